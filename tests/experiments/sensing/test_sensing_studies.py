"""The line of recovery, in theory and measured, and the model of Figure 13.22."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from garrote.experiments.sensing.threshold import halfway, weak_threshold
from studies import quick_study


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.9])
def test_the_line_is_where_soft_thresholding_needs_all_measurements(share):
    # Its minimax risk at a share of entries that are not 0 is the share of measurements needed.
    entries = share * weak_threshold(share)

    def risk(z):
        silent = 2 * ((1 + z**2) * norm.cdf(-z) - z * norm.pdf(z))
        return entries * (1 + z**2) + (1 - entries) * silent

    assert minimize_scalar(risk, bounds=(0, 5), method="bounded").fun == pytest.approx(share)


def test_the_line_ends_where_all_or_nothing_is_measured():
    assert weak_threshold(1.0) == pytest.approx(1.0, abs=1e-4)
    assert weak_threshold(1e-4) < 0.1
    with pytest.raises(ValueError, match="must be above 0 and at most 1, got 0"):
        weak_threshold(0.0)


def test_half_of_all_attempts_succeed_where_a_logistic_curve_says():
    rng = np.random.default_rng(0)
    levels = rng.uniform(0, 1, 4000)
    successes = (rng.random(4000) < 1 / (1 + np.exp(20 * (levels - 0.4)))).astype(float)
    place, error = halfway(levels, successes)
    assert place == pytest.approx(0.4, abs=3 * error)
    assert 0.002 < error < 0.01
    apart, _ = halfway(np.array([0.1, 0.2, 0.3, 0.4]), np.array([1.0, 1.0, 0.0, 0.0]))
    assert apart == pytest.approx(0.25, abs=0.01)  # though no maximum likelihood exists


@pytest.mark.study
def test_recovery_is_lost_near_the_line():
    numbers = quick_study("phase-diagram").numbers
    for (line, _), theory in zip(numbers["lines"], numbers["theory"], strict=True):
        assert line == pytest.approx(theory, abs=0.06)
    assert max(one.gap for one in numbers["attempts"]) < 1e-8


@pytest.mark.study
def test_signals_come_back_in_the_right_basis_only():
    found = quick_study("murphy-figure-13.22").numbers["recovered"]
    most = max(size for _, size in found)
    errors = {name: found[name, most][0].error for name, size in found if size == most}
    assert errors["spike and slab"] < 0.1
    assert errors["lasso"] < 0.2
    assert min(errors["spike and slab, wrong basis"], errors["least norm, no sparsity"]) > 0.5
