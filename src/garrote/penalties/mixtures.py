"""Priors of one coefficient whose scale is unknown: their negative logarithms as penalties.

A coefficient is normal with a variance tau^2 that has a distribution of its own (Murphy 2012, Table
13.2), which makes the penalty concave in |w|. EM finds a mode: the E step gives, for penalty p
(exercise 13.8),

    E[1 / tau^2 | w] = p'(|w|) / |w|,

and the M step is a lasso in which each variable's threshold is p'(|w|): the tangent of the penalty. With
noise of variance s^2 a negative log posterior is N / s^2 times loss + strength * penalty at the strength
s^2 / N (the text's Eq. 13.140 has the squared error without its 1 / (2 s^2)).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.penalties.base import Penalty, Terms, first_strength, steepest
from garrote.rules import cost, second_derivative, shrink, slope, slopes
from garrote.scale_mixtures.laws import HALLaw, NEGLaw, NormalGammaLaw

# EM in one dimension has ended when it moves less than this, relative to the least-squares value.
_STILL = 1e-14
# Where the strength of a penalty without a finite slope at 0 is looked for: shares of that value.
_SHARES = np.linspace(0.005, 0.995, 199)


class MixtureRule(NamedTuple):
    """threshold_j times the penalty of a mixture, and w between bounds; not for compiled loops."""

    threshold: Floats
    mixture: Any
    lower: Floats
    upper: Floats


@shrink.register
def _(rule: MixtureRule, j, z, curvature):
    size = _largest_minimum(rule.mixture, abs(z), rule.threshold[j] / curvature)
    inner, zero = (min(max(w, rule.lower[j]), rule.upper[j]) for w in (np.sign(z) * size, 0.0))
    if (
        rule.mixture.infinite or inner == zero
    ):  # 0 has an infinite density: it is no mode to compare
        return inner
    gain = cost(rule, j, zero) - cost(rule, j, inner)
    gain += 0.5 * curvature * ((zero - z) ** 2 - (inner - z) ** 2)
    return inner if gain > 0 else zero


def _largest_minimum(mixture: Any, start: float, pull: float) -> float:
    """Return where EM from a least-squares value ends: the largest minimum away from 0, or 0.

    EM moves w down by h(w) = w - start + pull p'(w). As p' is convex, the secant of h through two points
    above its largest root meets 0 above that root, too; where it falls the other way, no root is left.
    EM itself takes millions of steps where two roots are about to meet, the secants some seventy.
    """
    size, move, rise = (
        start,
        pull * mixture.steepness(np.array(start)).item() if start else 0.0,
        1.0,
    )
    while move > _STILL * start:
        before, size = size, size - move / rise
        if size <= 0:
            return 0.0
        moved, move = move, size - start + pull * mixture.steepness(np.array(size)).item()
        rise = (moved - move) / (before - size)
        if rise <= 0:
            return 0.0
    return size


@cost.register
def _(rule: MixtureRule, j, coef):
    return rule.threshold[j] * rule.mixture.value(np.array(abs(coef))).item()


@slope.register
def _(rule: MixtureRule, j, coef):
    steep = rule.threshold[j] * rule.mixture.steepness(np.array(abs(coef))).item()
    return np.sign(coef) * steep


@second_derivative.register
def _(rule: MixtureRule, j, coef):
    around = abs(coef) * np.array([1 - 1e-5, 1 + 1e-5])
    steep = rule.mixture.steepness(around)
    return rule.threshold[j] * float((steep[1] - steep[0]) / (around[1] - around[0]))


@slopes.register
def _(rule: MixtureRule, size: Floats) -> Floats:
    different, places = np.unique(size, return_inverse=True)  # most are 0
    return rule.threshold * rule.mixture.steepness(different)[places]


class Mixture(Penalty):
    """What mixtures share: from the penalty's slope to its rule and its largest strength.

    ``value`` is the penalty of coefficients of some size, ``steepness`` its slope there.
    """

    by_tangents = True
    infinite: Any = False  # whether the density is, at 0

    def value(self, size: Floats) -> Floats:
        """Return the penalty of coefficients of some size."""
        raise NotImplementedError

    def steepness(self, size: Floats) -> Floats:
        """Return its slope there: the E step."""
        raise NotImplementedError

    def at(self, strength: float, terms: Terms) -> MixtureRule:
        """Return the scalar rule at one strength."""
        return MixtureRule(strength * terms.factor, self, terms.lower, terms.upper)

    def largest_strength(
        self, gradient: Floats, terms: Terms, curvature: Floats | None = None
    ) -> float:
        """Return the least strength at which no penalised variable is in, given the null gradient."""
        if not self.singular:
            return steepest(gradient, terms, float(self.steepness(np.zeros(()))))

        def wanted(size: Floats, each: Floats, columns: Array) -> Floats:
            # EM leaves w > 0 where curvature (z - w) >= strength p'(w) for some w; the largest
            # gradients are all that can matter.
            largest = np.argsort(-size)[:100]
            alone = size[largest] / each[largest]
            steep = self.steepness(alone[:, None] * _SHARES + 1e-300)
            strengths = np.zeros(len(size))
            strengths[largest] = (size[largest, None] * (1 - _SHARES) / steep).max(axis=1)
            return strengths

        # A little more: just there EM hardly moves, between a minimum that is about to vanish and 0.
        return 1.01 * first_strength(wanted, gradient, terms, curvature)


@dataclass(frozen=True)
class HAL(Mixture):
    """(a + 1) log(1 + |w| / b), the hierarchical adaptive lasso (Lee et al. 2010).

    A Laplace distribution whose scale is inverse gamma (a, b); Murphy (2012), Eqs. 13.133-13.143, with
    tau^2 ~ Ga(1, 1 / (2 gamma^2)), which that density needs (the text has Ga(1, gamma^2 / 2)).
    """

    a: float = 1.0
    b: float = 0.1
    name = "HAL"
    reference = (
        "Lee, Caron, Doucet & Holmes (2010), A hierarchical Bayesian framework for "
        "constructing sparsity-inducing priors. arXiv:1009.1914"
    )

    def __post_init__(self) -> None:
        _check_positive(a=self.a + 1.0, b=self.b)

    def value(self, size: Floats) -> Floats:
        """Return the penalty of coefficients of some size."""
        return HALLaw(self.a).cost(size / self.b)

    def steepness(self, size: Floats) -> Floats:
        """Return its slope there: the E step."""
        return HALLaw(self.a).steepness(size / self.b) / self.b


@dataclass(frozen=True)
class NormalJeffreys(Mixture):
    """log |w|: Jeffreys' prior 1 / tau^2 of the variance (Figueiredo 2003); nothing to set.

    The density is infinite at 0, so that 0 is always a mode; what EM finds away from 0 is stated.
    """

    name = "normal-Jeffreys"
    reference = (
        "Figueiredo (2003), Adaptive sparseness for supervised learning. IEEE TPAMI 25, 1150-1159"
    )
    singular = True
    infinite = True

    def value(self, size: Floats) -> Floats:
        """Return the penalty of coefficients of some size."""
        return np.log(size)

    def steepness(self, size: Floats) -> Floats:
        """Return its slope there: the E step."""
        return 1.0 / size


@dataclass(frozen=True)
class NormalGamma(Mixture):
    """Gamma variances of shape delta and rate gamma^2 / 2 (Griffin & Brown 2010).

    The penalty is (1/2 - delta) log |w| - log K(gamma |w|), K the modified Bessel function of order
    delta - 1/2. delta = 1 is the lasso, and smaller ones are sparser; for delta <= 1/2 the density is
    infinite at 0, as for `NormalJeffreys`.
    """

    delta: float = 0.75
    gamma: float = 1.0
    name = "normal-gamma"
    reference = (
        "Griffin & Brown (2010), Inference with normal-gamma prior distributions in "
        "regression problems. Bayesian Analysis 5, 171-188"
    )

    def __post_init__(self) -> None:
        _check_positive(delta=self.delta, gamma=self.gamma)
        if self.delta > 1:
            raise ValueError(
                f"delta must lie in (0, 1]: larger ones are not sparse; got {self.delta}"
            )

    @property
    def singular(self) -> bool:
        """Whether the slope at 0 is infinite."""
        return self.delta < 1

    @property
    def infinite(self) -> bool:
        """Whether the density at 0 is."""
        return self.delta <= 0.5

    def value(self, size: Floats) -> Floats:
        """Return the penalty of coefficients of some size."""
        return NormalGammaLaw(self.delta).cost(self.gamma * size)

    def steepness(self, size: Floats) -> Floats:
        """Return its slope there: the E step."""
        return self.gamma * NormalGammaLaw(self.delta).steepness(self.gamma * size)


@dataclass(frozen=True)
class NEG(Mixture):
    """Normal-exponential-gamma: exponential variances whose rate is gamma (a, b) (Griffin & Brown 2007).

    The penalty is -log of the integral of g^(2a) exp(-g |w| - b g^2 / 2) over g > 0, a Laplace
    distribution of rate g with g^2 / 2 ~ Ga(a, b), as `garrote.scale_mixtures.laws.NEGLaw` has it.
    """

    a: float = 0.5
    b: float = 0.01
    name = "NEG"
    reference = (
        "Griffin & Brown (2007), Bayesian adaptive lassos with non-convex penalization. "
        "Technical report, University of Kent"
    )

    def __post_init__(self) -> None:
        _check_positive(a=self.a, b=self.b)

    def value(self, size: Floats) -> Floats:
        """Return the penalty of coefficients of some size."""
        return NEGLaw(self.a).cost(size / np.sqrt(self.b))

    def steepness(self, size: Floats) -> Floats:
        """Return its slope there: the E step, the mean of g."""
        return NEGLaw(self.a).steepness(size / np.sqrt(self.b)) / np.sqrt(self.b)


def _check_positive(**settings: float) -> None:
    for name, value in settings.items():
        if not 0 < value < np.inf:
            raise ValueError(f"{name} must be a finite number > 0, got {value}")
