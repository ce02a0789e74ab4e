"""Credible sets under priors that leave no variable out: which columns a draw uses, and sets of them."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

import garrote
from garrote import ShrinkageRegressor, SingleEffectsRegressor
from garrote.cli.main import main
from garrote.inference import Gibbs
from garrote.solvers.algebra.gaussian_draws import ByColumns, ByRows
from garrote.solvers.shrinkage import columns_of_a_draw as module
from garrote.solvers.shrinkage.columns_of_a_draw import needed_columns
from reference_shrinkage import columns_used

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


def copies(rows, columns, alike, size, seed):
    """Three blocks of three near copies; effects of 0, of 4 and of the last column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns))
    for first in (0, 3, 6):
        own = rng.standard_normal((rows, 3))
        X[:, first : first + 3] = np.sqrt(alike) * X[:, [first]] + np.sqrt(1 - alike) * own
    y = size * (X[:, 0] - X[:, 4] + X[:, -1]) + rng.standard_normal(rows)
    return X, y


def sets(X, y, prior, n_steps=1000, **settings):
    """Return the credible sets of shrunk coefficients or, to compare, of single effects."""
    model = SingleEffectsRegressor()
    if prior != "single-effects":
        settings = {"random_state": 0, **settings}
        model = ShrinkageRegressor(prior, Gibbs(n_steps, burn_in=300), **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    return [set(one.variables.tolist()) for one in model.posterior_.credible_sets(0.95)]


# --- the rule


def forms(X):
    return [ByRows(np.asfortranarray(X), X[:, 0]), ByColumns(X.T @ X, X.T @ X[:, 0], 1.0)]


@pytest.mark.parametrize("which", [0, 1])
def test_draws_use_what_least_squares_of_their_fits_need(which):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    X[:, 1] = 0.95 * X[:, 0] + 0.3 * X[:, 1]
    X[:, 5] = -0.9 * X[:, 4] + 0.4 * X[:, 5]
    coef = rng.standard_normal((60, 8)) * rng.exponential(0.4, 8)
    noise = rng.uniform(0.5, 2.0, 60)
    found = needed_columns(forms(X)[which], coef, noise, 40.0)
    assert found.columns.tolist() == list(range(8))
    for w, s2, inside in zip(coef, noise, found.inside, strict=True):
        expected = columns_used(X, w, s2, 40.0, module.LEAST_NATS)
        assert np.flatnonzero(inside).tolist() == expected
    assert 1 < found.inside.sum(axis=1).mean() < 7


def test_copies_that_share_an_effect_count_once_and_those_that_cancel_not_at_all():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((100, 4))
    X[:, 1] = X[:, 0] + 0.03 * rng.standard_normal(100)
    coef = np.array([[0.7, 0.3, 0.0, 0.0], [0.3, 0.7, 0.0, 0.0], [2.0, -2.0, 0.0, 0.0]])
    used = needed_columns(forms(X)[0], coef, np.ones(3), 100.0)
    assert used.inside.tolist() == [
        [True, False, False, False],
        [False, True, False, False],
        [False, False, False, False],
    ]


def test_a_coefficient_below_its_standard_error_is_not_used():
    X = np.sqrt(50) * np.eye(3)
    error = 1 / np.sqrt(50)
    coef = error * np.array([[0.5, 2.0, 0.9], [-1.2, 0.0, 0.0]])
    used = needed_columns(forms(X)[1], coef, np.ones(2), 1e6)
    assert used.inside.tolist() == [[False, True, False], [True, False, False]]


def test_exact_copies_and_no_columns_do_no_harm():
    X = np.ones((10, 3)) * np.arange(10)[:, None]
    used = needed_columns(forms(X)[1], np.array([[1.0, 2.0, 0.5]]), np.ones(1), 10.0)
    assert used.inside.tolist() == [[False, True, False]]
    nothing = needed_columns(
        ByColumns(np.zeros((0, 0)), np.zeros(0), 1.0), np.zeros((5, 0)), np.ones(5), 9.0
    )
    assert nothing.inside.shape == (5, 0)


def test_of_many_draws_and_columns_some_are_looked_at(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 20))
    coef = 0.01 * rng.standard_normal((90, 20))
    coef[:, [3, 11]] += 1.0
    monkeypatch.setattr(module, "MOST_DRAWS", 30)
    monkeypatch.setattr(module, "MOST_COLUMNS", 5)
    used = needed_columns(forms(X)[0], coef, np.ones(90), 50.0)
    assert used.inside.shape == (30, 5)
    assert used.columns[used.inside.all(axis=0)].tolist() == [3, 11]


# --- the sets


@pytest.mark.parametrize("prior", ["laplace", "horseshoe"])
@pytest.mark.parametrize("alike", [0.9, 0.999])
def test_near_copies_are_one_set_as_under_single_effects(prior, alike):
    X, y = copies(200, 12, alike, 0.8, seed=3)
    found, expected = sets(X, y, prior), sets(X, y, "single-effects")
    assert len(found) == len(expected) == 3
    for one in expected:
        assert any(one & other for other in found)
    for truth in (0, 4, 11):
        assert any(truth in one for one in found)
    blocks = [{0, 1, 2}, {3, 4, 5}, {11}]
    assert all(any(one <= block for block in blocks) for one in found)
    if alike > 0.99:
        assert sum(len(one) > 1 for one in found) == 2


@pytest.mark.parametrize("prior", ["laplace", "horseshoe"])
@pytest.mark.parametrize("columns", [3, 15, 150])
def test_pure_noise_has_no_sets(prior, columns):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, columns))
        X[:, 1:3] = X[:, [0]] + 0.2 * X[:, 1:3]
        assert sets(X, rng.standard_normal(60), prior, n_steps=400) == []


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["laplace", "horseshoe"])
def test_sets_hold_the_truth_and_find_what_single_effects_find(prior):
    held, made, found, beside = 0, 0, 0, 0
    for alike in (0.9, 0.99, 0.999):
        for seed in range(12):
            X, y = copies(200, 20, alike, 0.35, seed)
            own, other = sets(X, y, prior, random_state=seed), sets(X, y, "single-effects")
            held += sum(bool(one & {0, 4, 19}) for one in own)
            made += len(own)
            found += len(set().union(*own) & {0, 4, 19})
            beside += len(set().union(*other) & {0, 4, 19})
    assert held >= 0.95 * made
    assert found >= 0.85 * beside
    assert made > 70


def test_covariates_are_in_no_set():
    X, y = copies(150, 10, 0.99, 1.0, seed=4)
    found = sets(X, y, "horseshoe", covariates=[0])
    assert found
    assert all(0 not in one for one in found)


def test_sets_of_draws_are_kept_in_files_of_the_same_size(tmp_path):
    X, y = copies(100, 30, 0.99, 1.0, seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ShrinkageRegressor("horseshoe", Gibbs(n_steps=2000), random_state=0).fit(X, y)
    model.save(tmp_path / "m.garrote")
    same = garrote.load(tmp_path / "m.garrote")
    own, other = model.posterior_.credible_sets(), same.posterior_.credible_sets()
    assert [str(one) for one in own] == [str(one) for one in other]
    assert (
        model.posterior_.substitutes.inclusions.inside.nbytes
        < 0.05 * model.posterior_.law.draws.nbytes
    )


def test_the_command_and_the_page_show_sets(tmp_path, capsys):
    X, y = copies(150, 10, 0.999, 1.0, seed=6)
    frame = pd.DataFrame(X, columns=[f"v{j}" for j in range(10)]).assign(y=y)
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ["select", str(tmp_path / "data.csv"), "--target", "y", "--method", "shrinkage"]
    outputs = ["--json", str(tmp_path / "r.json"), "--report", str(tmp_path / "r.html")]
    assert main([*command, "--set", "prior=laplace", *outputs]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("One of these 3: ") == 2
    document = json.loads((tmp_path / "r.json").read_text())
    assert {"v0", "v1", "v2"} in [set(one["variables"]) for one in document["credible_sets"]]
    page = " ".join((tmp_path / "r.html").read_text().split())
    assert "one of these three" in page
