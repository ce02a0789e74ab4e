"""Laws of an unknown g as numbers, of which kernels take densities, slopes and curves.

All are written in x = log(g - g0), g0 = v - 1 being where g begins, up to a constant as

    power x - fall log(v + e^x) - bend log(v + far e^x) - decay / (v + e^x) - rise e^-x.

With 1 + g = v + e^x that is the truncated compound confluent hypergeometric law of Li & Clyde (2018) of
u = 1 / (1 + g), u^(a/2 - 1) (1 - vu)^(b/2 - 1) (kappa + (1 - kappa) vu)^-r e^(-su) with power = b / 2,
fall = (a + b) / 2 - r, bend = r, far = kappa and decay = s; ``rise`` is the rate of an inverse gamma law
of g (Zellner & Siow 1980). In x every such law falls exponentially, or faster, on both sides, so that
the trapezoidal rule integrates it to rounding.
"""

from typing import NamedTuple

import numpy as np

from garrote._jit import kernel


class LawOfG(NamedTuple):
    """The law of g for models of one size; see the module for the names."""

    begin: float  # v, 1 more than the least g
    power: float
    fall: float
    bend: float
    far: float
    decay: float
    rise: float


@kernel(inline=True)
def log_prior(law, x):
    """Return the log density of x = log(g - g0), up to a constant."""
    beyond = np.exp(x)
    whole = law.begin + beyond
    value = law.power * x - law.fall * np.log(whole) - law.decay / whole
    if law.bend != 0.0:
        value -= law.bend * np.log(law.begin + law.far * beyond)
    if law.rise != 0.0:
        value -= law.rise * np.exp(-x)
    return value


@kernel(inline=True)
def prior_slope(law, x):
    """Return the derivative of the log density of x."""
    beyond = np.exp(x)
    whole, part = law.begin + beyond, law.far * beyond
    slope = law.power - law.fall * (beyond / whole) - law.bend * (part / (law.begin + part))
    slope += law.decay * (beyond / whole) / whole
    return slope + law.rise * np.exp(-x) if law.rise != 0.0 else slope


@kernel(inline=True)
def prior_curve(law, x):
    """Return the second derivative of the log density of x."""
    beyond = np.exp(x)
    whole, part = law.begin + beyond, law.far * beyond
    inner, outer = beyond / whole, part / (law.begin + part)
    curve = -law.fall * inner * (1.0 - inner) - law.bend * outer * (1.0 - outer)
    curve += law.decay * inner * (law.begin - beyond) / whole / whole
    return curve - law.rise * np.exp(-x) if law.rise != 0.0 else curve
