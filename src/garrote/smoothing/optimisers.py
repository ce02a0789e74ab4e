"""Ways down an average: Newton's steps, L-BFGS, and natural gradients that may learn the widths."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize as scipy_minimize

from garrote.arrays import Floats
from garrote.settings import Settings, as_settings, check_count, check_positive
from garrote.smoothing.averages import Average
from garrote.solvers.control import Callback, Progress

# (mu, sigma, stream) -> the average and its derivatives, estimated from draws of that stream.
AverageOf = Callable[[Floats, Floats, int], Average]

# No sampled step is longer than so many deviations: farther away nothing has been drawn.
_REACH = 2.0
# A step is accepted if the average falls by this share of what its slope promises; halvings; rounding.
_ENOUGH, _HALVINGS, _ROUNDING = 1e-4, 40, 1e-14
# Second derivatives below this share of the largest are no curvature.
_FLAT = 1e-12


class Descent(NamedTuple):
    """Where an optimiser has got to, and the steps that it made."""

    mu: Floats
    sigma: Floats
    steps: int


class Told:
    """Whom to tell of steps, how many are done, and of how many."""

    def __init__(self, callback: Callback | None, total: int):
        self._callback, self._total, self._done = callback, total, 0

    def next(self) -> None:
        """Tell of one more; trials along a line count, too, but never beyond all."""
        self._done = min(self._done + 1, self._total)
        if self._callback is not None:
            self._callback(Progress("smoothing", self._done, self._total))


class Optimiser(Settings):
    """The base of optimisers."""

    steps: int

    @property
    def learns(self) -> bool:
        """Whether it sets the widths itself, down to a least one."""
        return False

    def descend(
        self, average: AverageOf, start: Descent, stream: int, least: float, sampled: bool
    ) -> Descent:
        """Go down from some mean and widths, with the draws of ``stream``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Newton(Optimiser):
    """Newton's steps by the diagonal of the second derivatives, or by all of them if they are known.

    Staines & Barber's lassos (Eq. 20) take ``Newton(length=0.1, steps=1, search=False)``, one step a
    width.

    Parameters
    ----------
    length : float, default=1
        The share of a step that is made, or tried first.
    steps : int, default=50
        Steps at one width, at most.
    search : bool, default=True
        Whether steps are halved until the average falls.
    tol : float, default=1e-4
        A width is done where no coordinate moves by more than this share of its sigma.
    """

    length: float = 1.0
    steps: int = 50
    search: bool = True
    tol: float = 1e-4

    def __post_init__(self) -> None:
        check_positive("length", self.length)
        check_count("steps", self.steps, 1)
        check_positive("tol", self.tol)

    def descend(
        self, average: AverageOf, start: Descent, stream: int, least: float, sampled: bool
    ) -> Descent:
        """Go down from some mean at fixed widths."""
        mu, sigma = start.mu, start.sigma
        here = average(mu, sigma, stream)
        for made in range(1, self.steps + 1):
            step = self.length * _newton_step(here, sigma, sampled)
            if self.search:
                found = _searched(average, mu, sigma, stream, here, step)
                if found is None:
                    return Descent(mu, sigma, made)
                step, here = found
            mu = mu + step
            if np.abs(step / sigma).max(initial=0.0) <= self.tol:
                return Descent(mu, sigma, made)
            if not self.search and made < self.steps:
                here = average(mu, sigma, stream)
        return Descent(mu, sigma, self.steps)


def _newton_step(here: Average, sigma: Floats, sampled: bool) -> Floats:
    """Return minus the gradient over the curvature; some sigmas where that is not positive."""
    slope, curvature = here.gradient, here.curvature
    if curvature is None:
        raise ValueError(
            "Newton needs curvature=, which this bound has not: give it, or take LBFGS()"
        )
    if curvature.ndim == 2:
        values, vectors = np.linalg.eigh(curvature)
        steep = np.maximum(np.abs(values), _FLAT * np.abs(values).max(initial=0.0) or 1.0)
        return np.asarray(-vectors @ ((vectors.T @ slope) / steep))
    short = np.abs(slope) / (_REACH * sigma)
    steep = np.where(curvature > 0, curvature, short)
    steep = np.maximum(steep, short) if sampled else steep
    return np.where(slope == 0.0, 0.0, -slope / np.where(steep > 0, steep, 1.0))


def _searched(
    average: AverageOf, mu: Floats, sigma: Floats, stream: int, here: Average, step: Floats
) -> tuple[Floats, Average] | None:
    """Return the step, halved until the average falls enough, and the average there."""
    promised = float(here.gradient @ step)
    slack = _ROUNDING * abs(here.value)
    for _ in range(_HALVINGS):
        there = average(mu + step, sigma, stream)
        if there.value <= here.value + _ENOUGH * promised + slack:
            return step, there
        step, promised = 0.5 * step, 0.5 * promised
    return None


@dataclass(frozen=True)
class LBFGS(Optimiser):
    """SciPy's L-BFGS-B, in units of sigma.

    Parameters
    ----------
    steps : int, default=200
        Iterations at one width, at most.
    tol : float, default=1e-9
        Largest entry of sigma times the gradient at which to stop, as a share of the first one.
    learn : bool, default=False
        Whether widths are variables, too, which needs second derivatives: the average is minimised over
        both at once, jointly convex for a convex f.
    """

    steps: int = 200
    tol: float = 1e-9
    learn: bool = False

    def __post_init__(self) -> None:
        check_count("steps", self.steps, 1)
        check_positive("tol", self.tol)

    @property
    def learns(self) -> bool:
        """Whether widths are variables."""
        return self.learn

    def descend(
        self, average: AverageOf, start: Descent, stream: int, least: float, sampled: bool
    ) -> Descent:
        """Go down from some mean, at fixed widths or over both."""
        first, sigma, count = start.mu, start.sigma, len(start.mu)
        begin = average(first, sigma, stream)
        scale = float(np.abs(sigma * begin.gradient).max(initial=0.0)) or 1.0

        def at(moved: Floats) -> tuple[float, Floats]:
            wide = sigma * np.exp(moved[count:]) if self.learn else sigma
            here = average(first + sigma * moved[:count], wide, stream)
            slope = sigma * here.gradient
            if self.learn:
                slope = np.concatenate([slope, wide**2 * _diagonal(here)])
            return here.value / scale, slope / scale

        lowest = np.log(np.minimum(least / sigma, 1.0))
        limits: Any = None
        if self.learn:
            limits = [(None, None)] * count + [(low, None) for low in lowest]
        found = scipy_minimize(
            at, np.zeros(count * (1 + self.learn)), jac=True, method="L-BFGS-B", bounds=limits,
            options={"maxiter": self.steps, "ftol": 1e-16, "gtol": self.tol},
        )  # fmt: skip
        wide = sigma * np.exp(found.x[count:]) if self.learn else sigma
        return Descent(first + sigma * found.x[:count], wide, int(found.nit))


@dataclass(frozen=True)
class NaturalGradient(Optimiser):
    """Steps along the natural gradient of the law, with new draws for each.

    For a normal law these are -sigma^2 dU/dmu and, of log sigma, -sigma^2 d2U/dmu2 / 2, both divided by
    the deviation of f over the law as far as they tell it (Amari 1998; Wierstra et al. 2014).
    For switches they are those of the log odds.

    Parameters
    ----------
    rate : float, default=0.3
        The length of a step, in deviations of the law.
    steps : int, default=500
        Steps at most: at one width, or altogether where widths are learned.
    learn : bool, default=True
        Whether widths are learned, down to the last one.
    """

    rate: float = 0.3
    steps: int = 500
    learn: bool = True

    def __post_init__(self) -> None:
        check_positive("rate", self.rate)
        check_count("steps", self.steps, 1)

    @property
    def learns(self) -> bool:
        """Whether widths are learned."""
        return self.learn

    def descend(
        self, average: AverageOf, start: Descent, stream: int, least: float, sampled: bool
    ) -> Descent:
        """Make steps until all widths are the least, or for as many steps as there are."""
        mu, sigma = start.mu, start.sigma
        for made in range(self.steps):
            here = average(mu, sigma, stream * self.steps + made if sampled else stream)
            curvature = sigma**2 * _diagonal(here)
            spread = np.hypot(
                np.linalg.norm(sigma * here.gradient), np.linalg.norm(curvature) / 2**0.5
            )
            if spread == 0.0:
                return Descent(mu, sigma, made)
            mu = mu - self.rate * sigma**2 * here.gradient / spread
            if self.learn:
                sigma = np.maximum(sigma * np.exp(-0.5 * self.rate * curvature / spread), least)
                if (sigma <= least).all():
                    return Descent(mu, sigma, made + 1)
        return Descent(mu, sigma, self.steps)


def _diagonal(here: Average) -> Floats:
    if here.curvature is None:
        raise ValueError(
            "widths are learned by second derivatives, which this bound has not: give curvature=, or "
            "take learn=False"
        )
    return here.curvature if here.curvature.ndim == 1 else np.diag(here.curvature)


OPTIMISERS: dict[str, Callable[[], Optimiser]] = {
    "newton": Newton,
    "lbfgs": LBFGS,
    "natural": NaturalGradient,
}


def as_optimiser(given: Any) -> Optimiser:
    """Return the optimiser of a name, or the one given."""
    names = ("auto", *OPTIMISERS)
    return as_settings(
        "optimiser", given, Optimiser, OPTIMISERS, "an object such as Newton()", names
    )
