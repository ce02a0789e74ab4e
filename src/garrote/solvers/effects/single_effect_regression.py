"""One single effect: a regression in which exactly one variable has an effect, and which is unknown.

With w_j ~ N(0, v) for the variable that has it, products b_j = x_j'Wr, curvatures c_j = x_j'Wx_j and
noise variance s (or 1 where W holds the precisions), everything is in closed form, column by column:

    log BF_j = b_j^2 v / (2 s (s + v c_j)) - log(1 + v c_j / s) / 2
    a_j      = p_j BF_j / sum_k p_k BF_k                      the probability to be the one
    w_j      ~ N(v b_j / (s + v c_j),  v s / (s + v c_j))     given that it is
    log BF   = log sum_j p_j BF_j                             against no effect at all

Nothing here knows X: rows, moments and bounds of other likelihoods share it (Wang et al. 2020).

Where a unit is a group of columns, w has N(0, v) in each of its coordinates (`units`). These are
orthogonal, so that all of the above holds of each, and log BF of the group is the sum of theirs.
"""

from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.solvers.effects.effect_groups import Basis, EffectGroups, of_columns, summed

# Columns whose best possible log term lies this far below the best one add nothing to any sum.
_NEGLIGIBLE = 40.0
# Steps of Newton's method in log v at most, their largest length, the gain that is not worth another
# one, and where log v is minus infinity.
_STEPS, _LONGEST, _ENOUGH, _LOWEST = 50, 2.0, 1e-10, -60.0
# An effect of no more evidence than this is none.
_NULL = 1e-6


class SingleEffect(NamedTuple):
    """What is believed of one effect.

    ``probability`` is that of being the one with the effect, ``mean`` and ``variance`` are those of the
    coefficient given that; ``log_bayes_factor`` compares with no effect at all. An effect of
    ``prior_variance`` 0 is none: its probabilities are the prior's. With ``units`` probabilities are
    those of groups, and the rest is by columns; variances may be in another ``basis`` of these.
    """

    probability: Floats
    mean: Floats
    variance: Floats
    log_bayes_factor: float
    prior_variance: float
    units: EffectGroups | None = None
    basis: Basis | None = None

    @property
    def along(self) -> Floats:
        """The means in the basis that variances are in."""
        return self.mean if self.basis is None else self.basis.into(self.mean)

    @property
    def present(self) -> float:
        """The probability that there is such an effect."""
        return float(self.probability.sum())

    @property
    def by_column(self) -> Floats:
        """The probability of each column to be of the one with the effect."""
        return of_columns(self.probability, self.units)

    @property
    def coef(self) -> Floats:
        """The coefficients averaged over which variable it is."""
        return self.by_column * self.mean

    @property
    def second_moment(self) -> Floats:
        """The squares of the coefficients, averaged over which variable it is."""
        return self.by_column * (self.mean**2 + self.variance)

    @property
    def first(self) -> Array:
        """A column of each variable that the effect may be of: all, without groups."""
        return np.arange(len(self.mean))

    @property
    def groups(self) -> Array | None:
        """The group of each column, where effects are stated by columns of groups."""
        return None

    def second_moments(self, columns: Array) -> Floats:
        """Return the expected products of some coefficients: of two columns one at least is 0."""
        return np.diag(self.second_moment[columns])

    def together_with(self, columns: Array) -> Array:
        """Return the columns of the variables that some columns are of: these themselves."""
        return columns

    def roots_of(self, columns: Array, unit: Floats) -> Floats | None:
        """Return what makes up covariances within groups of some columns; nothing without groups."""
        return None


def single_effect_regression(
    products: Floats,
    curvature: Floats,
    log_prior: Floats,
    prior_variance: float,
    noise: float = 1.0,
    units: EffectGroups | None = None,
) -> SingleEffect:
    """Find the posterior of a single effect of known prior variance.

    Parameters
    ----------
    products : array of shape (D,)
        x_j'Wr, with r what is left for this effect to explain.
    curvature : array of shape (D,)
        x_j'Wx_j.
    log_prior : array of shape (D,)
        Log probabilities to be the one, which sum to 1; -inf for columns without content.
    prior_variance, noise : float
    units : EffectGroups, optional
        Groups of columns, where these have effects; prior probabilities are then those of groups.
    """
    if prior_variance <= 0:
        nothing = np.zeros(len(products))
        return SingleEffect(np.exp(log_prior), nothing, nothing, 0.0, 0.0, units)
    variance = noise / (curvature + noise / prior_variance)
    mean = products / (curvature + noise / prior_variance)
    if units is not None:  # empty places of a group have no coefficient
        variance = np.where(curvature > 0, variance, 0.0)
    each = log_bayes_factors((products / noise) ** 2, curvature / noise, prior_variance)
    total, probability = normalise(log_prior + summed(each, units))
    return SingleEffect(probability, mean, variance, total, float(prior_variance), units)


def best_prior_variance(
    products: Floats,
    curvature: Floats,
    log_prior: Floats,
    noise: float = 1.0,
    start: float = 0.0,
    units: EffectGroups | None = None,
) -> float:
    """Return the prior variance of the largest Bayes factor; 0 where none is above 1.

    The evidence may have several humps in log v. Newton's method climbs from the best of ``start`` and
    of variances that would suit the strongest column alone, or several columns that share its strength,
    so that the evidence is never below that of ``start``.
    """
    columns = _contenders((products / noise) ** 2, curvature / noise, log_prior, units)
    if not len(columns.squares):
        return 0.0
    suits = _suiting_variance(columns)
    tried = [start, suits] if start > 0 else [suits * share for share in (1.0, 0.25, 0.0625)]
    slopes = [_Slope.at(np.log(v), columns) for v in tried if v > 0]
    if not slopes:
        return 0.0
    reached = _climb(max(slopes, key=lambda one: one.height), columns)
    return float(np.exp(reached.place)) if reached.height > _NULL else 0.0


def expected_prior_variance(effect: SingleEffect) -> float:
    """Return the step of EM for the prior variance: the posterior mean of the squared effect.

    Of a group, for each of its coordinates.
    """
    units = effect.units
    expected = 1.0 if units is None else float(effect.probability @ units.rank)
    return float(effect.second_moment.sum()) / expected


def kl_from_prior(effect: SingleEffect, log_prior: Floats) -> float:
    """Return the Kullback-Leibler divergence of the posterior of an effect from its prior."""
    if effect.prior_variance <= 0:
        return 0.0
    here = effect.probability > 0
    a, v = effect.probability[here], effect.prior_variance
    which = np.log(a) - log_prior[here]
    if effect.units is not None:
        used = np.flatnonzero(effect.variance > 0)
        ratio = effect.variance[used] / v
        each = np.zeros(len(effect.variance))
        each[used] = 0.5 * (ratio + effect.mean[used] ** 2 / v - 1.0 - np.log(ratio))
        return float(a @ (which + summed(each, effect.units)[here]))
    ratio = effect.variance[here] / v
    size = 0.5 * (ratio + effect.mean[here] ** 2 / v - 1.0 - np.log(ratio))
    return float(a @ (which + size))


class _Columns(NamedTuple):
    """What the evidence for an effect is made of: (b_j / s)^2, c_j / s and log p_j, by units."""

    squares: Floats
    precision: Floats
    log_prior: Floats
    units: EffectGroups | None = None


def _suiting_variance(columns: _Columns) -> float:
    """Return the prior variance that suits the strongest column alone, or the strongest group."""
    z_squared = columns.squares / columns.precision
    if columns.units is None:
        strongest = int(np.argmax(z_squared))
        return float((z_squared[strongest] - 1.0) / columns.precision[strongest])
    rank = np.maximum(columns.units.rank, 1.0)
    mean = np.maximum(summed(z_squared, columns.units) / rank, 1.0)
    strongest = int(np.argmax(rank * (mean - 1.0 - np.log(mean))))
    precision = summed(columns.precision, columns.units)[strongest] / rank[strongest]
    return float((mean[strongest] - 1.0) / precision) if precision > 0 else 0.0


def _contenders(
    squares: Floats, precision: Floats, log_prior: Floats, units: EffectGroups | None
) -> _Columns:
    """Return the columns that may add to the evidence at the best prior variance.

    A column with z^2 = squares / precision has log BF <= (z^2 - 1 - log z^2) / 2, or 0 if z^2 < 1,
    whatever the prior variance is; and the best evidence is at least the largest of these bounds. Of
    groups there are few enough to look at all.
    """
    if units is not None:
        used = np.flatnonzero((precision > 0) & (of_columns(log_prior, units) > -np.inf))
        among = EffectGroups(units.of_column[used], units.rank)
        return _Columns(squares[used], precision[used], log_prior, among)
    kept: Array = np.flatnonzero((precision > 0) & (log_prior > -np.inf))
    if len(kept):
        z_squared = np.maximum(squares[kept] / precision[kept], 1.0)
        bound = log_prior[kept] + 0.5 * (z_squared - 1.0 - np.log(z_squared))
        # >= as rounding may be larger than the margin.
        kept = kept[bound >= bound.max() - _NEGLIGIBLE]
    return _Columns(squares[kept], precision[kept], log_prior[kept])


def log_bayes_factors(squares: Floats, precision: Floats, prior_variance: float) -> Floats:
    """Return log BF_j, with (b_j / s)^2 for squares and c_j / s for precision."""
    load = 1.0 + prior_variance * precision
    return np.asarray(0.5 * (squares * prior_variance / load - np.log(load)))


def normalise(terms: Floats) -> tuple[float, Floats]:
    """Return the log of the sum of exp(terms), and their shares of it."""
    top = float(terms.max())
    share = np.exp(terms - top)
    total = float(share.sum())
    return top + float(np.log(total)), share / total


class _Slope(NamedTuple):
    """The evidence at one place of log v, with its first two derivatives there."""

    place: float
    height: float
    slope: float
    second_derivative: float

    @classmethod
    def at(cls, place: float, columns: _Columns) -> "_Slope":
        v = float(np.exp(place))
        load = v * columns.precision
        left = 1.0 / (1.0 + load)
        terms = 0.5 * v * columns.squares * left
        units = columns.units
        if units is None:
            terms += columns.log_prior + 0.5 * np.log(left)
        else:
            terms = columns.log_prior + summed(terms + 0.5 * np.log(left), units)
        height, share = normalise(terms)
        kept = load * left
        spread = v * columns.squares * left**2  # z^2 kept / (1 + load)
        first = summed(0.5 * (spread - kept), units)
        second = summed(0.5 * (spread * (1.0 - load) - kept) * left, units)
        slope = float(share @ first)
        return cls(place, height, slope, float(share @ (second + first**2)) - slope**2)

    @property
    def step(self) -> float:
        """The step of Newton's method to the top; a long one upwards where there is no top near."""
        if self.second_derivative >= 0:
            return float(np.sign(self.slope) * _LONGEST)
        return float(np.clip(-self.slope / self.second_derivative, -_LONGEST, _LONGEST))


def _climb(here: _Slope, columns: _Columns) -> _Slope:
    """Raise the evidence over the logarithm of the prior variance, by Newton's method."""
    step = here.step
    for _ in range(_STEPS):
        if here.place + step < _LOWEST or here.slope * step < _ENOUGH:
            break
        there = _Slope.at(here.place + step, columns)
        if there.height >= here.height:
            here, step = there, there.step
        else:
            step /= 4.0
    return here
