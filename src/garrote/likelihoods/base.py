"""What a likelihood says of one sample, and sums of it over all.

A likelihood's class registers bodies of functions of a response y and a linear predictor eta, which work
on arrays and, for the exponential families (NamedTuples), compiled, on numbers:

* ``log_likelihood``, log p(y | eta) up to a term of y alone, and ``saturated``, its largest value;
* ``inverse_link``, the mean of y;
* ``gradient`` and ``curvature``, the derivative of the log likelihood in eta and minus its second.

Where it is no exponential family with its canonical link, it also registers ``conjugate``, by which
duality gaps are computed; where its curvature may vanish, ``majoriser``; where it takes a number from
the data, ``adapt_to_data``; where its null model is not the mean, ``null_mean``; where its curvature has
a bound, ``largest_curvature``, which is the step of first-order solvers. Beside these it has what its
base class `Likelihood` lists. Sample weights and offsets (a known part of eta) belong to whoever sums: a
weight of k counts as k repeats of its row.
"""

from functools import singledispatch
from typing import Any

import numpy as np
from scipy.optimize import brentq

from garrote._jit import generic
from garrote.arrays import Floats
from garrote.rules.integration import Integration
from garrote.settings import Settings

# How often an interval is doubled in which the null model's level is looked for.
_MOST_DOUBLINGS = 60


class Likelihood(Settings):
    """What the class of a likelihood has beside the registered functions."""

    @property
    def name(self) -> str:
        """What users call it."""
        raise NotImplementedError

    @property
    def several(self) -> bool:
        """Whether rows have linear predictors for several classes or responses.

        Arrays of eta have a row for each of them then, and functions of eta are methods.
        """
        return False

    @property
    def outputs(self) -> int:
        """How many linear predictors a row has."""
        return 1

    @property
    def coupled(self) -> bool:
        """Whether the likelihood is no sum over rows: see `garrote.likelihoods.coupled`."""
        return False

    @property
    def of_times(self) -> bool:
        """Whether responses are times until an event."""
        return False

    @property
    def has_level(self) -> bool:
        """Whether an intercept changes the likelihood."""
        return True

    @property
    def additive(self) -> bool:
        """Whether y is eta plus noise: offsets are in units of y then, and can be taken off it."""
        return False

    @property
    def least_squares(self) -> bool:
        """Whether a row, of one response, costs half its squared residual.

        Closed forms exist then, and cross products tell all that there is in the data.
        """
        return False

    @property
    def integration(self) -> Integration | None:
        """How coefficients are integrated out; None where there are no posteriors.

        With one, kernels know the likelihood.
        """
        return None

    @property
    def in_kernels(self) -> bool:
        """Whether kernels take it: it is a NamedTuple, whose functions are such as numba compiles."""
        return isinstance(self, tuple)

    @property
    def concave(self) -> bool:
        """Whether the log likelihood is concave in eta: duality gaps certify fits only then.

        Where it is not, `majoriser` is what stands for the curvature in steps.
        """
        return True

    @property
    def kinked(self) -> bool:
        """Whether the loss is made of straight pieces: fits are linear programmes, then."""
        return False

    @property
    def loss_is_scale(self) -> bool:
        """Whether the mean loss estimates the scale of the noise, not its square."""
        return False

    @property
    def latent_normal(self) -> bool:
        """Whether y says on which side of 0 a normal variable of mean eta lies: EM imputes it."""
        return False

    @property
    def may_be_overdispersed(self) -> bool:
        """Whether the mean of y fixes its variance, and y may vary more than that."""
        return False

    @property
    def without_maximum(self) -> str:
        """What has happened, in words, where the likelihood grows without end along some direction."""
        return "the likelihood has no maximum"

    @property
    def uninformative(self) -> str:
        """What is said of responses that nothing can explain, where they are not just constant."""
        return ""

    @property
    def from_data(self) -> tuple[str, ...]:
        """The settings that `adapt_to_data` takes from the data where they are not given."""
        return ()

    @property
    def noise_scale(self) -> float | None:
        """The scale of the noise, in units of eta; None where it has to be estimated."""
        return 1.0

    @property
    def effect_scale(self) -> str:
        """What coefficients change, in words: "" where that is y itself."""
        return "linear predictor"

    def check_response(self, y: Floats) -> None:
        """Refuse responses that the likelihood does not know."""
        raise NotImplementedError

    def given(self, y: Any) -> tuple["Likelihood", Floats]:
        """Return the likelihood of some responses, and these as numbers."""
        return self, np.asarray(y, dtype=np.float64)

    def numbers(self, y: Floats, weights: Floats) -> Floats:
        """Return what stands for responses where columns are compared with numbers."""
        return y

    def counted(self, y: Floats, weights: Floats) -> float:
        """Return how many rows there are, as information criteria count them."""
        return float(np.sum(weights))

    def of_classes(self, count: int) -> "Likelihood":
        """Return the likelihood of labels of so many classes; raise where it has none."""
        raise ValueError(f"family={self.name!r} is of numbers, not of labels of {count} classes")

    def link(self, mean: Floats) -> Floats:
        """Return the linear predictor whose mean is given."""
        raise NotImplementedError

    def variance(self, mean: Floats) -> Floats:
        """Return the variance of a response whose mean is given, in units of the noise."""
        raise NotImplementedError

    def left_out(self, y: Floats) -> Floats | None:
        """Return the term of y alone that `log_likelihood` lacks of the log density of each response.

        None where no density is known, as of a loss that is no likelihood.
        """
        return None

    def predictive_variance(self, mean: Floats, uncertainty: Floats) -> Floats:
        """Return the variance of a new response, whose mean is itself known with some variance."""
        return self.variance(mean) + uncertainty

    def check_predictor(self, eta: Floats) -> None:
        """Refuse linear predictors of new rows that are beyond what a mean is stated for."""


@generic
def log_likelihood(likelihood: Any, y: Any, eta: Any) -> Any:
    """Return log p(y | eta), up to a term of y alone."""
    raise TypeError(f"no log likelihood is registered for {type(likelihood).__name__}")


@generic
def saturated(likelihood: Any, y: Any) -> Any:
    """Return the largest log likelihood that any eta gives."""
    raise TypeError(f"no saturated model is registered for {type(likelihood).__name__}")


@generic
def inverse_link(likelihood: Any, eta: Any) -> Any:
    """Return the mean of y."""
    raise TypeError(f"no mean is registered for {type(likelihood).__name__}")


@generic
def gradient(likelihood: Any, y: Any, eta: Any) -> Any:
    """Return the derivative of the log likelihood in eta."""
    raise TypeError(f"no gradient is registered for {type(likelihood).__name__}")


@generic
def curvature(likelihood: Any, y: Any, eta: Any) -> Any:
    """Return minus the second derivative of the log likelihood in eta."""
    raise TypeError(f"no curvature is registered for {type(likelihood).__name__}")


@generic
def conjugate(likelihood: Any, y: Any, slope: Any) -> Any:
    """Return the supremum over eta of log p(y | eta) - slope eta.

    It is reached where the gradient is the slope, and infinite for a slope that no gradient comes near.
    Where log p(y | eta) is y eta - A(eta) it is the saturated value at the mean y - slope.
    """
    return saturated(likelihood, y - slope)


@generic
def majoriser(likelihood: Any, y: Any, eta: Any) -> Any:
    """Return the second derivative of a parabola above minus the log likelihood that touches it at eta.

    The curvature stands for it where that never vanishes.
    """
    return curvature(likelihood, y, eta)


@singledispatch
def largest_curvature(likelihood: Any) -> float:
    """Return the largest curvature that any y and eta give; infinite where there is none."""
    return np.inf


@singledispatch
def adapt_to_data(
    likelihood: Any, y: Floats, weights: Floats | None = None, offset: Floats | None = None
) -> Any:
    """Return the likelihood with all numbers that it takes from the data; most take none."""
    return likelihood


@singledispatch
def learn_from_fit(likelihood: Any, y: Floats, eta: Floats, weights: Floats | None = None) -> Any:
    """Return the likelihood with the numbers that a fit's linear predictors make most likely.

    Those that `adapt_to_data` had to take from the null model, a dispersion say; most learn none.
    """
    return likelihood


@singledispatch
def null_mean(likelihood: Any, y: Floats, weights: Floats | None = None) -> float:
    """Return the mean that fits best without any column: that of y, for most."""
    return float(np.average(y, weights=weights))


def null_predictor(
    likelihood: Any, y: Floats, weights: Floats | None = None, offset: Floats | None = None
) -> Floats:
    """Return the linear predictor that fits best without any column: one level beside the offset."""
    level = likelihood.link(np.full(len(y), null_mean(likelihood, y, weights)))
    if offset is None:
        return np.asarray(level)
    return offset + _level_beside(
        likelihood, y, weights, offset, float(level[0] - np.average(offset, weights=weights))
    )


def _level_beside(
    likelihood: Any, y: Floats, weights: Floats | None, offset: Floats, start: float
) -> float:
    """Return where the slope of the log likelihood, which falls with the level, is 0."""

    def slope(level: float) -> float:
        return _summed(gradient(likelihood, y, offset + level), weights)

    first = slope(start)
    for power in range(_MOST_DOUBLINGS if first else 0):
        other = start + np.sign(first) * 2.0**power
        if slope(other) * first <= 0:
            return float(brentq(slope, start, other, xtol=1e-14))
    return start  # the best, or labels are all the same and the best is infinite


def deviance(likelihood: Any, y: Floats, eta: Floats, weights: Floats | None = None) -> float:
    """Return twice what the log likelihood is short of that of a perfect fit.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.likelihoods import Gaussian, deviance
    >>> deviance(Gaussian(), np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    4.0
    """
    short = saturated(likelihood, y) - log_likelihood(likelihood, y, eta)
    return 2.0 * max(_summed(short, weights), 0.0)


def deviance_explained(
    likelihood: Any,
    y: Floats,
    mean: Floats,
    weights: Floats | None = None,
    offset: Floats | None = None,
) -> float:
    """Return the share of the null model's deviance that predicted means explain.

    The null model predicts one mean for all, that of y for most likelihoods; or, where part of the
    linear predictor is known, the ``offset``, one level beside it. Means on the boundary (a
    probability of 1) are moved inside by rounding, so that a certain but wrong prediction costs much,
    not everything.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.likelihoods import Binomial, deviance_explained
    >>> labels = np.array([0.0, 1.0, 1.0])
    >>> round(deviance_explained(Binomial(), labels, np.array([0.1, 0.8, 0.9])), 3)
    0.773
    """
    whole = deviance(likelihood, y, null_predictor(likelihood, y, weights, offset), weights)
    left = deviance(likelihood, y, likelihood.link(np.asarray(mean)), weights)
    if whole > 0:
        return 1.0 - left / whole
    return 1.0 if left == 0 else 0.0


def _summed(values: Any, weights: Floats | None) -> float:
    return float(np.sum(values) if weights is None else weights @ values)
