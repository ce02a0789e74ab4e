"""Cox's partial likelihood beside a sum over times written out, and its derivatives by differences."""

import numpy as np
import pytest

from garrote.likelihoods import Cox, survival_times
from garrote.likelihoods.coupled import (
    distance_of_events,
    information,
    weighted_curvature,
    weighted_gradient,
    weighted_log_likelihood,
    weighted_saturated,
)
from reference_cox import log_partial_likelihood, make_times

TIES = ("efron", "breslow")
CASES = [
    (ties, truncated, strata) for ties in TIES for truncated in (True, False) for strata in (1, 3)
]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request):
    ties, truncated, strata = request.param
    _, y, parts = make_times(1, truncated=truncated, strata=strata)
    likelihood, events = Cox(ties).given(y)
    eta = np.random.default_rng(2).standard_normal(len(y))
    return likelihood, events, parts, eta, ties


def reference(parts, eta, ties):
    return log_partial_likelihood(eta, **parts, ties=ties)


def test_value_is_that_of_a_sum_over_times(case):
    likelihood, events, parts, eta, ties = case
    found = weighted_log_likelihood(likelihood, events, parts["weights"], eta)
    np.testing.assert_allclose(found, reference(parts, eta, ties), rtol=1e-12)


def test_slopes_and_curvatures_are_those_of_finite_differences(case):
    likelihood, events, parts, eta, ties = case
    weights, h, unit = parts["weights"], 1e-5, np.eye(len(eta))
    slope = weighted_gradient(likelihood, events, weights, eta)
    by_steps = [
        (reference(parts, eta + h * one, ties) - reference(parts, eta - h * one, ties)) / (2 * h)
        for one in unit
    ]
    np.testing.assert_allclose(slope, by_steps, atol=1e-8)
    bend = information(likelihood, events, weights, eta, unit)
    by_steps = [
        -(weighted_gradient(likelihood, events, weights, eta + h * one)
          - weighted_gradient(likelihood, events, weights, eta - h * one)) / (2 * h)
        for one in unit
    ]  # fmt: skip
    np.testing.assert_allclose(bend, by_steps, atol=1e-8)
    above = np.diag(weighted_curvature(likelihood, events, weights, eta)) - bend
    assert np.linalg.eigvalsh(above).min() > -1e-12
    assert np.linalg.eigvalsh(bend).min() > -1e-12


def test_slopes_sum_to_nothing_and_a_shift_of_a_stratum_changes_nothing(case):
    likelihood, events, parts, eta, _ = case
    weights, strata = parts["weights"], parts["strata"]
    slope = weighted_gradient(likelihood, events, weights, eta)
    np.testing.assert_allclose(np.bincount(strata, slope), 0.0, atol=1e-12)
    shifted = weighted_log_likelihood(likelihood, events, weights, eta + 3.0 * (strata == 0))
    np.testing.assert_allclose(shifted, weighted_log_likelihood(likelihood, events, weights, eta))


def test_saturated_value_is_approached_where_events_alone_have_hazards():
    """Without truncation: hazards that fall with time leave each event alone with those it ties with."""
    for ties in TIES:
        _, y, parts = make_times(1, truncated=False, strata=1)
        likelihood, events = Cox(ties).given(y)
        order = np.searchsorted(np.unique(parts["stop"]), parts["stop"])
        eta = np.where(parts["event"] > 0, -14.0 * order, -14.0 * (order.max() + 3))
        weights = (parts["weights"] > 0).astype(float)
        found = weighted_log_likelihood(likelihood, events, weights, eta)
        np.testing.assert_allclose(
            found, weighted_saturated(likelihood, events, weights), atol=1e-3
        )


def test_weights_of_breslow_are_repeats():
    _, y, _ = make_times(3)
    counts = np.random.default_rng(0).integers(0, 4, len(y))
    eta = np.random.default_rng(1).standard_normal(len(y))
    once, many = Cox("breslow").given(y), Cox("breslow").given(np.repeat(y, counts))
    found = weighted_log_likelihood(once[0], once[1], counts.astype(float), eta)
    repeated = weighted_log_likelihood(
        many[0], many[1], np.ones(counts.sum()), np.repeat(eta, counts)
    )
    np.testing.assert_allclose(found, repeated, rtol=1e-12)


def test_a_large_hazard_of_a_late_row_costs_others_no_digits():
    """Row 2 comes late with a hazard e^60 times as large: sums by differences would lose the others."""
    y = survival_times([1.0, 2.0, 9.0, 3.0], [1, 1, 0, 0], start=[0.0, 0.0, 5.0, 0.0])
    likelihood, events = Cox().given(y)
    eta = np.array([0.3, -0.2, 60.0, 0.1])
    known = log_partial_likelihood(
        eta[[0, 1, 3]], y["time"][[0, 1, 3]], y["event"][[0, 1, 3]], y["start"][[0, 1, 3]],
        np.zeros(3), np.ones(3), "efron",
    )  # fmt: skip
    found = weighted_log_likelihood(likelihood, events, np.ones(4), eta)
    np.testing.assert_allclose(found, known, rtol=1e-12)


@pytest.mark.parametrize("ties", TIES)
def test_bound_of_the_dual_holds_for_every_share(ties):
    """The entropy of shares between the events' and the fit's, by brute force, is below the bounds."""
    _, y, parts = make_times(4, n=25, strata=1)
    likelihood, events = Cox(ties).given(y)
    weights, eta = parts["weights"], np.random.default_rng(0).standard_normal(25)
    value = weighted_log_likelihood(likelihood, events, weights, eta)
    loss = weighted_saturated(likelihood, events, weights) - value
    slope = weighted_gradient(likelihood, events, weights, eta)
    apart = distance_of_events(likelihood, weights, eta)
    for share in (0.0, 0.3, 0.8, 0.99, 1.0):
        exact = loss - value_of_entropies(eta, parts, ties, share) + share * slope @ eta
        chord = share * (loss + slope @ eta)
        parabola = loss + share * slope @ eta - (1 - share) ** 2 * apart
        assert chord <= exact + 1e-10
        assert parabola <= exact + 1e-10
    np.testing.assert_allclose(parabola, exact, atol=1e-10)


def value_of_entropies(eta, parts, ties, share):
    """Sum of KL divergences of mixed shares from the fit's, by which the dual falls short."""
    total, rates = 0.0, parts["weights"] * np.exp(eta)
    used = parts["weights"] > 0
    for time in np.unique(parts["stop"][(parts["event"] > 0) & used]):
        at_risk = used & (parts["start"] < time) & (time <= parts["stop"])
        events = used & (parts["event"] > 0) & (parts["stop"] == time)
        count, weight = events.sum(), parts["weights"][events].sum()
        own = np.where(events, parts["weights"], 0.0)[at_risk] / weight
        for step in range(count):
            left = step / count if ties == "efron" else 0.0
            p = (rates * (1.0 - left * events))[at_risk]
            p = p / p.sum()
            mixed = share * p + (1.0 - share) * own
            inside = mixed > 0
            total += weight / count * (mixed[inside] @ np.log(mixed[inside] / p[inside]))
    return total
