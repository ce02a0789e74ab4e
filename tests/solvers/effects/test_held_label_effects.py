"""Effects on log odds that are held while others are fitted."""

import numpy as np
import pytest
from scipy.special import expit

from garrote.problem import Problem
from garrote.solvers.control import Control
from garrote.solvers.effects.effects_on_log_odds import (
    HeldLabelEffects,
    LabelsFitter,
    fit_label_effects,
)
from garrote.solvers.effects.refining import refine
from garrote.solvers.labels.label_regression import LabelColumns


def labels(n=300, D=250, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    eta = 1.2 * X[:, 3] - X[:, 7] + X @ (0.06 * rng.standard_normal(D))
    y = (rng.random(n) < expit(eta)).astype(float)
    columns = LabelColumns(Problem.from_rows(X, y, likelihood="binomial"))
    columns.add(np.arange(D))
    return columns, np.full(D, -np.log(D))


def test_a_fit_beside_held_effects_is_the_fit_of_all_with_the_same_bound():
    columns, log_prior = labels()
    control = Control(1e-6, 2000)
    settings = {"effects": 3, "variance": 0.3}
    whole = fit_label_effects(columns, log_prior, control, **settings)
    weakest = whole.effects[-1:]
    held = HeldLabelEffects.of(columns, weakest, log_prior)
    start = whole.left_out(len(whole.effects) - 1)
    beside = fit_label_effects(
        columns, log_prior, control, effects=2, variance=0.3, start=start, held=held
    )
    assert beside.bound == pytest.approx(whole.bound, abs=1e-6)
    np.testing.assert_allclose(beside.eta, whole.eta, atol=1e-4)
    np.testing.assert_allclose(beside.fixed, whole.fixed, atol=1e-4)
    for one, two in zip(beside.effects, whole.effects, strict=False):
        np.testing.assert_allclose(one.probability, two.probability, atol=1e-4)


def test_refining_holds_what_is_spread_out_and_keeps_all_effects():
    columns, log_prior = labels()
    fitter = LabelsFitter(columns, log_prior, Control(1e-4, 500), None, 0.01)
    found = fitter.fit()
    assert found.effects[-1].log_bayes_factor < 1.0  # spread over most of the columns
    rough = fitter.rough(found)(found)
    assert rough.effects[-1] is found.effects[-1]
    assert rough.bound >= found.bound - 1e-2
    better, _ = refine(fitter, found)
    assert better.bound >= found.bound - 1e-6
