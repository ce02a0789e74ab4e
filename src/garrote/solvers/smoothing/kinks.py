"""The kink max(0, t) and four smooth curves above it, each as wide as it is told to be.

|t| is the kink at t and at -t, the hinge of a support vector machine is the kink at 1 - y f(x): whoever
knows the kink's value, slope and curvature knows theirs. All four lie above the kink, come closer to it
the farther t is away, and are farthest from it at t = 0, by ``surplus`` widths. The bounds of Staines &
Barber (2012) on the error of a smoothed objective are made of that.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit, log_ndtr, logit, ndtr, ndtri

from garrote.arrays import Floats

_ROOT_OF_2_PI = np.sqrt(2.0 * np.pi)


class Kink:
    """A smooth curve above max(0, t). Arrays of t and of widths (or one width) go in."""

    surplus: ClassVar[float]

    def value(self, t: Floats, width: Floats | float) -> Floats:
        """Return the curve itself."""
        raise NotImplementedError

    def slope(self, t: Floats, width: Floats | float) -> Floats:
        """Return its derivative in t, from 0 on the left to 1 on the right."""
        raise NotImplementedError

    def curvature(self, t: Floats, width: Floats | float) -> Floats:
        """Return its second derivative in t."""
        raise NotImplementedError

    def place(self, slope: Floats, width: Floats | float) -> Floats:
        """Return the t at which the slope is a given one, between 0 and 1."""
        raise NotImplementedError


@dataclass(frozen=True)
class GaussianKink(Kink):
    """The mean of max(0, x) over x ~ N(t, width^2): the curve of variational optimization.

    value = t Phi(t / width) + width phi(t / width), with slope Phi(t / width); after Eqs. 14 and 29 of
    Staines & Barber (2012), whose Eqs. 31 and 32 divide by the width once too often.
    """

    surplus: ClassVar[float] = 1.0 / _ROOT_OF_2_PI

    def value(self, t: Floats, width: Floats | float) -> Floats:
        z = t / width
        # Far to the left the two terms cancel: Phi / phi, which is tame, keeps the digits.
        density = np.exp(-0.5 * z * z) / _ROOT_OF_2_PI
        with np.errstate(over="ignore", invalid="ignore"):
            mills = np.exp(log_ndtr(z) + 0.5 * z * z) * _ROOT_OF_2_PI
            left = width * density * (1.0 + z * mills)
        return np.where(z < 0.0, np.where(density > 0.0, left, 0.0), t * ndtr(z) + width * density)

    def slope(self, t: Floats, width: Floats | float) -> Floats:
        return np.asarray(ndtr(t / width))

    def curvature(self, t: Floats, width: Floats | float) -> Floats:
        z = t / width
        return np.exp(-0.5 * z * z) / (_ROOT_OF_2_PI * width)

    def place(self, slope: Floats, width: Floats | float) -> Floats:
        return np.asarray(width * ndtri(slope))


@dataclass(frozen=True)
class HuberKink(Kink):
    """A parabola between -width and width, the kink itself outside: Chapelle's Huber loss.

    value = (t + width)^2 / (4 width) for |t| < width (Chapelle 2007; printed in Staines & Barber's
    Eq. 38 as (1 + h t)^2 / (4 h), which does not meet the kink).
    """

    surplus: ClassVar[float] = 0.25

    def value(self, t: Floats, width: Floats | float) -> Floats:
        inside = np.clip(t, -width, width)
        return (inside + width) ** 2 / (4.0 * width) + np.maximum(t - width, 0.0)

    def slope(self, t: Floats, width: Floats | float) -> Floats:
        return np.clip(0.5 * (1.0 + t / width), 0.0, 1.0)

    def curvature(self, t: Floats, width: Floats | float) -> Floats:
        return np.where(np.abs(t) < width, 0.5 / width, 0.0)

    def place(self, slope: Floats, width: Floats | float) -> Floats:
        return width * (2.0 * slope - 1.0)


@dataclass(frozen=True)
class SigmoidKink(Kink):
    """The integral of a logistic sigmoid, width log(1 + exp(t / width)) (Schmidt 2005)."""

    surplus: ClassVar[float] = float(np.log(2.0))

    def value(self, t: Floats, width: Floats | float) -> Floats:
        return width * np.logaddexp(0.0, t / width)

    def slope(self, t: Floats, width: Floats | float) -> Floats:
        return np.asarray(expit(t / width))

    def curvature(self, t: Floats, width: Floats | float) -> Floats:
        return expit(t / width) * expit(-t / width) / width

    def place(self, slope: Floats, width: Floats | float) -> Floats:
        return np.asarray(width * logit(slope))


@dataclass(frozen=True)
class RootKink(Kink):
    """One branch of a hyperbola, (t + sqrt(t^2 + width^2)) / 2: |t| becomes sqrt(t^2 + width^2)."""

    surplus: ClassVar[float] = 0.5

    def value(self, t: Floats, width: Floats | float) -> Floats:
        # On the left t and the root nearly cancel; their product is width^2 / 2 over their difference.
        root = np.hypot(t, width)
        return np.where(t > 0.0, 0.5 * (t + root), 0.5 * width**2 / (root - np.minimum(t, 0.0)))

    def slope(self, t: Floats, width: Floats | float) -> Floats:
        return self.value(t, width) / np.hypot(t, width)

    def curvature(self, t: Floats, width: Floats | float) -> Floats:
        return 0.5 * width**2 / np.hypot(t, width) ** 3

    def place(self, slope: Floats, width: Floats | float) -> Floats:
        return width * (slope - 0.5) / np.sqrt(slope * (1.0 - slope))


KINKS: dict[str, Kink] = {
    "gaussian": GaussianKink(),
    "huber": HuberKink(),
    "sigmoid": SigmoidKink(),
    "root": RootKink(),
}


def absolute_value(kink: Kink, t: Floats, width: Floats | float) -> Floats:
    """Return |t| made smooth: the kink to the right and to the left."""
    return kink.value(t, width) + kink.value(-t, width)


def absolute_slope(kink: Kink, t: Floats, width: Floats | float) -> Floats:
    """Return the derivative of the smooth |t|, from -1 to 1."""
    return kink.slope(t, width) - kink.slope(-t, width)


def absolute_curvature(kink: Kink, t: Floats, width: Floats | float) -> Floats:
    """Return the second derivative of the smooth |t|."""
    return kink.curvature(t, width) + kink.curvature(-t, width)
