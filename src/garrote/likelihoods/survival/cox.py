"""Proportional hazards: rows differ by a factor exp(eta) of a hazard that is left open (Cox 1972)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Floats
from garrote.likelihoods.base import Likelihood, adapt_to_data, curvature, inverse_link
from garrote.likelihoods.coupled import (
    distance_of_events,
    fill_rows,
    per_weight,
    shared_rows,
    take_shared_off,
    weighted_curvature,
    weighted_gradient,
    weighted_log_likelihood,
    weighted_saturated,
)
from garrote.likelihoods.survival.partial import distance_from_events, fill_shared, partial_rows
from garrote.likelihoods.survival.risk_sets import RiskSets, risk_sets
from garrote.likelihoods.survival.times import read_times
from garrote.likelihoods.uncertain import gaussian_mean
from garrote.limits.magnitudes import refuse_rates
from garrote.rules.integration import Integration

TIES = ("efron", "breslow")
# Log hazards are at most this, beyond all that may be predicted.
_LARGEST = 300.0


class _Hazards(Likelihood):
    """What Cox's model has with times and without."""

    name = "cox"
    coupled = True
    of_times = True
    has_level = False
    effect_scale = "log hazard"
    integration = Integration.LAPLACE
    without_maximum = "a variable puts events in order without an exception"
    uninformative = (
        "no event has rows at risk beside it that did not have theirs at the same time: times tell "
        "nothing of effects, and the empty model is returned"
    )

    def link(self, mean: Floats) -> Floats:
        """Return the logarithm of relative hazards."""
        return np.log(np.maximum(mean, 1e-300))

    def predictive_variance(self, mean: Floats, uncertainty: Floats) -> Floats:
        """Return the uncertainty of a relative hazard: it is no response, which had a variance."""
        return uncertainty

    def check_predictor(self, eta: Floats) -> None:
        """Refuse relative hazards beyond e^300, naming the first row that has one."""
        refuse_rates(eta)


@dataclass(frozen=True)
class Cox(_Hazards):
    """Times until an event, censored on the right and truncated on the left, with hazards h(t) exp(eta).

    The baseline hazard h is left open, one for each stratum, so that there is no intercept, and times
    count by their order alone: what is maximised is Cox's partial likelihood. Weights are those of R's
    survival package: under Efron's ties d events of total weight W count as d of weight W / d.

    Parameters
    ----------
    ties : {"efron", "breslow"}, default="efron"
        What several events at one time are: events in an unknown order, whose rows leave one after the
        other, or events of rows that are all still at risk.

    References
    ----------
    Cox, D. R. (1972). Regression models and life-tables. JRSS B 34, 187-220.
    Efron, B. (1977). The efficiency of Cox's likelihood function for censored data. JASA 72, 557-565.

    Examples
    --------
    >>> from garrote.likelihoods import Cox
    >>> Cox().ties
    'efron'
    """

    ties: str = "efron"
    # Kernels take what `given` returns.
    in_kernels = True

    def __post_init__(self) -> None:
        if self.ties not in TIES:
            raise ValueError(f"ties of Cox must be one of {TIES}, got {self.ties!r}")

    def given(self, y: Any) -> tuple[Likelihood, Floats]:
        """Return the likelihood of some times, and their events, 0 or 1."""
        times = read_times(y)
        return CoxRows(risk_sets(times), self.ties == "efron"), times.event

    def check_response(self, y: Any) -> None:
        """Refuse what is no response of times and events."""
        read_times(y)


class _OfRows(NamedTuple):
    risk: RiskSets
    efron: bool


class CoxRows(_OfRows, _Hazards):
    """Cox's model of rows whose times are known: what `Cox.given` returns. Responses are the events."""

    def given(self, y: Any) -> tuple[Likelihood, Floats]:
        """Return itself: times are known."""
        return self, np.asarray(y, dtype=np.float64)

    def check_response(self, y: Floats) -> None:
        """Refuse rows without an event."""
        if not np.any(y):
            raise ValueError(f"all {len(y)} rows are censored: there is nothing to explain")

    def numbers(self, y: Floats, weights: Floats) -> Floats:
        """Return the slopes of the log likelihood without any column, a row's by its weight."""
        slopes = weighted_gradient(self, y, weights, np.zeros(len(y)))
        return per_weight(slopes, weights)

    def counted(self, y: Floats, weights: Floats) -> float:
        """Return the weight of the events: what censored rows tell of effects is little."""
        return float(weights @ y)


@adapt_to_data.register
def _(likelihood: _Hazards, y, weights=None, offset=None):
    if offset is not None:
        spread = np.ptp(offset if weights is None else offset[weights > 0])
        if spread > _LARGEST:
            raise ValueError(
                f"offsets differ by {spread:.4g}, hazards by a factor of exp({spread:.4g}), which no "
                "times can have: give logarithms of relative hazards"
            )
    return likelihood


@inverse_link.register
def _(likelihood: _Hazards, eta):
    return np.exp(np.minimum(eta, _LARGEST))


@curvature.register
def _(likelihood: Cox, y, eta):
    # Of a relative hazard, without times: its slope, by which predictions vary.
    return np.exp(np.minimum(eta, _LARGEST))


@gaussian_mean.register
def _(likelihood: _Hazards, eta, variance=None):
    return np.exp(np.minimum(eta if variance is None else eta + 0.5 * variance, _LARGEST))


@fill_rows.register
def _(likelihood: CoxRows, y, weights, eta, slope, row_curvatures):
    return partial_rows(likelihood, weights, eta, slope, row_curvatures)


@take_shared_off.register
def _(likelihood: CoxRows, weights, eta, columns, members, information):
    size = members.shape[0]
    shared = np.zeros((size, likelihood.risk.times.shape[0] + likelihood.risk.tied.shape[0]))
    fill_shared(likelihood, weights, eta, columns[members], shared)
    for b in range(size):
        for a in range(b + 1):
            total = 0.0
            for g in range(shared.shape[1]):
                total += shared[a, g] * shared[b, g]
            information[a, b] -= total


@weighted_log_likelihood.register
def _(likelihood: CoxRows, y: Floats, weights: Floats, eta: Floats) -> float:
    return _rows_of(likelihood, weights, eta)[0]


@weighted_gradient.register
def _(likelihood: CoxRows, y: Floats, weights: Floats, eta: Floats) -> Floats:
    return _rows_of(likelihood, weights, eta)[1]


@weighted_curvature.register
def _(likelihood: CoxRows, y: Floats, weights: Floats, eta: Floats) -> Floats:
    return _rows_of(likelihood, weights, eta)[2]


@shared_rows.register
def _(likelihood: CoxRows, weights: Floats, eta: Floats, columns: Floats) -> Floats:
    risk = likelihood.risk
    shared = np.zeros((len(columns), len(risk.times) + len(risk.tied)))
    fill_shared(likelihood, weights, eta, columns, shared)
    return shared


@distance_of_events.register
def _(likelihood: CoxRows, weights: Floats, eta: Floats) -> float:
    return float(distance_from_events(likelihood, weights, eta))


@weighted_saturated.register
def _(likelihood: CoxRows, y: Floats, weights: Floats) -> float:
    """Return the log likelihood of hazards that only rows with events have, at their times."""
    risk, total = likelihood.risk, 0.0
    used = risk.events[weights[risk.events] > 0]
    weight = np.bincount(risk.own[used], weights[used], len(risk.times))
    number = np.bincount(risk.own[used], minlength=len(risk.times))
    here = weight > 0
    total = -float(weight[here] @ np.log(weight[here]))
    if likelihood.efron:
        total -= float(sum(weight[g] * _log_shares(number[g]) for g in np.flatnonzero(number > 1)))
    return total


def _log_shares(events: int) -> float:
    """Return the mean of log(1 - l / d) over the terms of d events."""
    return float(np.mean(np.log1p(-np.arange(events) / events)))


def _rows_of(likelihood: CoxRows, weights: Floats, eta: Floats) -> tuple[float, Floats, Floats]:
    slope, row_curvatures = np.zeros(len(eta)), np.zeros(len(eta))
    value = partial_rows(
        likelihood,
        np.asarray(weights, np.float64),
        np.asarray(eta, np.float64),
        slope,
        row_curvatures,
    )
    return float(value), slope, row_curvatures
