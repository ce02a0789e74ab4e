"""Cox's model beside R (data/cox_r.R), scikit-survival and lifelines (data/cox_python.py)."""

import json
from pathlib import Path

import numpy as np
import pytest

from garrote import SparseRegressor
from garrote.likelihoods import Cox, survival_times
from garrote.likelihoods.survival.concordance import concordance
from garrote.likelihoods.survival.times import read_times
from garrote.paths import FollowPath
from garrote.solvers.losses.newton import fit_newton

STORED = json.loads((Path(__file__).parents[2] / "data" / "cox_r.json").read_text())
KNOWN = {name: np.array(value) for name, value in STORED.items() if name != "versions"}
NAMES = ("age", "sex", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss")
LUNG = np.column_stack([KNOWN[f"x_{name}"] for name in NAMES])
TIMES = survival_times(KNOWN["time"], KNOWN["event"])


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_maximum_of_the_partial_likelihood_is_that_of_coxph(ties):
    fit = fit_newton(Cox(ties), LUNG, TIMES)
    np.testing.assert_allclose(fit.coef, KNOWN[f"{ties}_coef"], rtol=1e-9)
    np.testing.assert_allclose(fit.log_likelihood, KNOWN[f"{ties}_loglik"][1], rtol=1e-11)
    covariance = KNOWN[f"{ties}_var"].reshape(7, 7)
    np.testing.assert_allclose(fit.covariance[1:, 1:], covariance, rtol=1e-8)


def test_weights_and_strata_are_those_of_coxph():
    weights = (np.arange(1, len(LUNG) + 1) % 3 + 1) / 2
    y = survival_times(KNOWN["time"], KNOWN["event"], strata=KNOWN["x_sex"])
    fit = fit_newton(Cox(), LUNG[:, [0, 2, 6]], y, sample_weight=weights)
    np.testing.assert_allclose(fit.coef, KNOWN["weighted_coef"], rtol=1e-9)
    np.testing.assert_allclose(fit.log_likelihood, KNOWN["weighted_loglik"][1], rtol=1e-11)


def test_truncated_times_are_those_of_coxph():
    X = KNOWN["h_x"].reshape(4, -1).T
    y = survival_times(KNOWN["h_stop"], KNOWN["h_event"], start=KNOWN["h_start"])
    fit = fit_newton(Cox(), X, y)
    np.testing.assert_allclose(fit.coef, KNOWN["h_coef"], rtol=1e-9)
    np.testing.assert_allclose(fit.log_likelihood, KNOWN["h_loglik"][1], rtol=1e-11)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_baseline_hazard_is_that_of_basehaz(ties):
    model = SparseRegressor("none", family=Cox(ties), alpha=None).fit(LUNG, TIMES)
    np.testing.assert_allclose(model.coef_, KNOWN[f"{ties}_coef"], rtol=1e-6)
    hazard = model.baseline_.at(KNOWN[f"{ties}_basetime"])
    np.testing.assert_allclose(hazard, KNOWN[f"{ties}_basehaz"], rtol=1e-6)


def test_concordance_is_that_of_survival():
    found = concordance(read_times(TIMES), KNOWN["x_age"])
    np.testing.assert_allclose(found, KNOWN["concordance"][0], rtol=1e-11)


def test_path_and_folds_are_those_of_glmnet():
    """Its paths are solved to 1e-14 of the deviance, our folds as loosely as folds are."""
    events, number = KNOWN["event"], np.arange(len(LUNG)) % 5
    y = survival_times(KNOWN["time"] + (1 - events) / 2, events)
    splits = [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in range(5)]
    model = SparseRegressor(
        family=Cox("breslow"), cv=splits, method=FollowPath(alphas=KNOWN["lambda"], tol=1e-12)
    ).fit(LUNG, y)
    coef = KNOWN["beta"].reshape(-1, 7)
    np.testing.assert_allclose(model.path_.coefficients().toarray(), coef, atol=2e-6)
    np.testing.assert_allclose(model.path_.deviance_explained, KNOWN["dev_ratio"], atol=1e-7)
    held_out = [events[number == k].sum() for k in range(5)]
    errors = np.average(model.cv_results_["fold_errors"], axis=0, weights=held_out)
    np.testing.assert_allclose(errors, KNOWN["cvm"], rtol=1e-4)


def test_curves_and_concordance_are_those_of_scikit_survival_and_lifelines():
    stored = json.loads((Path(__file__).parents[2] / "data" / "cox_python.json").read_text())
    model = SparseRegressor("none", family=Cox("breslow"), alpha=None).fit(LUNG, TIMES)
    curves = model.predict_survival(LUNG[:4], stored["times"])
    np.testing.assert_allclose(curves, stored["survival"], rtol=1e-6)
    assert model.score(LUNG, TIMES) == pytest.approx(stored["concordance"], abs=1e-4)
    efron = SparseRegressor("none", family="cox", alpha=None).fit(LUNG, TIMES)
    np.testing.assert_allclose(efron.coef_, stored["lifelines_coef"], rtol=1e-5)
    assert efron.score(LUNG, TIMES) == pytest.approx(stored["lifelines_concordance"], abs=1e-4)
