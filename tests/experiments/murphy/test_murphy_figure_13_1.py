"""Murphy's figure 13.1: every model of ten variables, scored as the text defines."""

import numpy as np
import pytest

from garrote.experiments import StudySettings, run_study
from garrote.experiments.murphy.figure_13_1 import gray_code, published_bounds
from studies import quick_study

pytestmark = pytest.mark.study


def test_gray_code_changes_one_variable_at_a_time_and_misses_no_model():
    models = gray_code(6)
    assert (np.abs(np.diff(models.astype(int), axis=0)).sum(axis=1) == 1).all()
    assert len({tuple(row) for row in models}) == 64


def test_figure_13_1_scores_every_model_as_the_text_defines():
    first = quick_study("murphy-figure-13.1").numbers["first"]
    rng = np.random.default_rng(StudySettings(quick=True).streams(1)[0])
    X = rng.standard_normal((20, 10))
    coef = [0, -1.67, 0.13, 0, 0, 1.19, 0, -0.04, 0.33, 0]
    y = X @ coef + rng.standard_normal(20)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    costs = []
    for members in gray_code(10):  # Equations 13.9, 13.16 and 13.17, with sigma_w^2 = 1
        inside = X[:, members].T @ X[:, members] + np.eye(members.sum())
        fitted = X[:, members].T @ y
        left = y @ y - fitted @ np.linalg.solve(inside, fitted)
        cost = 0.5 * np.linalg.slogdet(inside)[1] + 9.5 * np.log(left) + members.sum() * np.log(9)
        costs.append(cost)
    np.testing.assert_allclose(first.cost, np.array(costs) - min(costs), atol=1e-4)
    np.testing.assert_allclose(first.probability, np.exp(-first.cost) / np.exp(-first.cost).sum())


def test_the_printed_models_of_figure_13_1_leave_variable_6_at_one_half():
    low, high = published_bounds()
    assert low[5] == pytest.approx(0.471)
    assert high[5] == pytest.approx(0.502)


def test_figure_13_1_includes_the_two_strong_variables():
    numbers = run_study("murphy-figure-13.1").numbers
    middle = np.median(numbers["inclusion"], axis=0)
    assert set(np.flatnonzero(middle > 0.5)) == {1, 5}
    assert middle[8] == np.sort(middle)[-3]
    assert np.mean([model == (2, 6) for model in numbers["median"]]) > 0.5
