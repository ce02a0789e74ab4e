"""Counts and positive numbers under penalties: against plain NumPy, and against other libraries."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from garrote import GreedyRegressor, SparseRegressor, SpikeSlabRegressor, load
from garrote.likelihoods import (
    Gamma,
    InverseGaussian,
    NegativeBinomial,
    Tweedie,
    adapt_to_data,
    as_likelihood,
    deviance,
    saturated,
)
from garrote.paths import FollowPath
from garrote.penalties import ElasticNet
from garrote.priors import IndependentInclusion
from garrote.solvers.losses.newton import fit_newton
from pairwise import by_pairs
from reference import penalised_by_proximal_gradient, soft

STORED = json.loads((Path(__file__).parents[2] / "data" / "families.json").read_text())
TABLE = {name: np.array(values) for name, values in STORED["table"].items()}
RESPONSES = {"negative-binomial": "counts", "tweedie": "zeros"}
EXACT = FollowPath(tol=1e-12)
PLAIN = {"standardize": False, "method": EXACT}

# The slope of every log likelihood and its loss, written out: y, mu -> d log p / d eta, -log p.
LOSSES = {
    NegativeBinomial(0.5): (
        lambda y, mu: (y - mu) / (1 + 0.5 * mu),
        lambda y, mu: (y + 2) * np.log(2 + mu) - y * np.log(mu),
    ),
    Gamma(): (lambda y, mu: y / mu - 1, lambda y, mu: y / mu + np.log(mu)),
    Tweedie(1.4): (
        lambda y, mu: y * mu**-0.4 - mu**0.6,
        lambda y, mu: mu**0.6 / 0.6 + y * mu**-0.4 / 0.4,
    ),
    InverseGaussian(): (
        lambda y, mu: y / mu**2 - 1 / mu,
        lambda y, mu: y / (2 * mu**2) - 1 / mu,
    ),
}
PENALTIES = {
    "lasso": lambda z, step, alpha: soft(z, step * alpha),
    "ridge": lambda z, step, alpha: z / (1 + step * alpha),
    "elastic-net": lambda z, step, alpha: soft(z, step * alpha / 2) / (1 + step * alpha / 2),
}


def response_of(family):
    return TABLE[RESPONSES.get(as_likelihood(family).name, "positive")]


@by_pairs(
    family=tuple(LOSSES),
    penalty=tuple(PENALTIES),
    weighted=(False, True),
    offset=(False, True),
    sparse=(False, True),
    solver=("coordinate", "fista"),
)
def test_fits_are_those_of_proximal_gradients(family, penalty, weighted, offset, sparse, solver):
    X, y, alpha = TABLE["X"], response_of(family), 0.1
    weights = TABLE["weights"] if weighted else np.ones(len(y))
    known = TABLE["offset"] if offset else np.zeros(len(y))
    settings = {"standardize": False, "method": FollowPath(solver=solver, tol=1e-11)}
    kind = ElasticNet(0.5) if penalty == "elastic-net" else penalty
    model = SparseRegressor(kind, alpha, family=family, **settings)
    model.fit(scipy.sparse.csc_array(X) if sparse else X, y, weights, offset=known)
    slope, loss = LOSSES[family]
    shrink = PENALTIES[penalty]
    level, coef = penalised_by_proximal_gradient(
        X,
        lambda eta: slope(y, np.exp(eta[:, 0]))[:, None],
        lambda eta: loss(y, np.exp(eta[:, 0])),
        weights,
        known[:, None],
        lambda z, step: shrink(z, step, alpha),
    )
    np.testing.assert_allclose(model.coef_, coef[:, 0], atol=2e-6)
    assert model.intercept_ == pytest.approx(level[0], abs=2e-6)
    named = "duality gap" in model.certificate_.parts
    assert named == as_likelihood(family).concave


@pytest.mark.parametrize("family", ["gamma", "inverse-gaussian", "tweedie(1.6)"])
@pytest.mark.parametrize("place", [0, 1], ids=["free", "ridge"])
def test_ridge_and_no_penalty_are_those_of_scikit_learn(family, place):
    level, *coef = STORED["scikit-learn"][family][place]
    alpha = (0.0, STORED["ridge"])[place]
    model = SparseRegressor("ridge", alpha, family=family, **PLAIN)
    model.fit(TABLE["X"], response_of(family), TABLE["weights"])
    np.testing.assert_allclose([model.intercept_, *model.coef_], [level, *coef], atol=5e-6)


@pytest.mark.parametrize("family", list(STORED["statsmodels"]))
def test_fits_without_a_penalty_are_those_of_statsmodels(family):
    level, *coef = STORED["statsmodels"][family]
    model = SparseRegressor("none", 0, family=family, **PLAIN)
    model.fit(TABLE["X"], response_of(family), offset=TABLE["offset"])
    np.testing.assert_allclose(model.coef_, coef[:4], atol=5e-6)
    assert model.intercept_ == pytest.approx(level, abs=5e-6)
    if len(coef) > 4:  # statsmodels has the dispersion behind the coefficients
        assert model.dispersion_ == pytest.approx(coef[4], abs=5e-6)


@pytest.mark.parametrize("family", [NegativeBinomial(0.5), Gamma()], ids=lambda f: f.name)
def test_the_lasso_is_that_of_glmnet(family):
    level, *coef = STORED["glmnet"][family.name]
    model = SparseRegressor("lasso", STORED["lasso"], family=family, method=EXACT)
    model.fit(TABLE["X"], response_of(family), TABLE["weights"], offset=TABLE["offset"])
    np.testing.assert_allclose([model.intercept_, *model.coef_], [level, *coef], atol=1e-5)


def test_a_dispersion_is_the_most_likely_one_at_the_fit():
    X, y, weights = TABLE["X"], TABLE["counts"], TABLE["weights"]
    model = SparseRegressor(alpha=0.1, family="negative-binomial").fit(X, y, weights)
    eta = X @ model.coef_ + model.intercept_

    def log_density(dispersion):
        one = NegativeBinomial(dispersion)
        loss = 0.5 * deviance(one, y, eta, weights)
        return weights @ (saturated(one, y) - one.left_out(y)) - loss

    best = log_density(model.dispersion_)
    assert best > max(log_density(share * model.dispersion_) for share in (0.99, 1.01))
    given = SparseRegressor(alpha=0.1, family=NegativeBinomial(model.dispersion_))
    np.testing.assert_allclose(given.fit(X, y, weights).coef_, model.coef_, atol=1e-6)


def test_counts_of_poissons_law_have_next_to_no_dispersion():
    y = np.array([1.0, 2.0, 1.0, 0.0, 2.0, 1.0])
    assert adapt_to_data(NegativeBinomial(), y).dispersion == pytest.approx(1e-6)
    X = np.random.default_rng(0).standard_normal((6, 2))
    model = SparseRegressor(alpha=0.1, family="negative-binomial").fit(X, y)
    same = SparseRegressor(alpha=0.1, family="poisson").fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, atol=1e-4)


@pytest.mark.parametrize(
    "family", ["negative-binomial", "gamma", "tweedie(1.6)", "inverse-gaussian"]
)
def test_greedy_models_are_fits_without_a_penalty(family):
    X, y, weights = TABLE["X"], response_of(family), TABLE["weights"]
    known = TABLE["offset"]
    model = GreedyRegressor("forward", n_features=2, family=family).fit(X, y, weights, offset=known)
    chosen = model.get_support(indices=True)
    assert chosen.tolist() == [0, 1]
    free = SparseRegressor("none", 0, family=family, **PLAIN).fit(
        X[:, chosen], y, weights, offset=known
    )
    np.testing.assert_allclose(model.coef_[chosen], free.coef_, atol=1e-6)
    assert model.score(X, y, weights, known) == pytest.approx(
        free.score(X[:, chosen], y, weights, known), abs=1e-9
    )


def test_families_with_settings_are_cloned_searched_over_and_saved(tmp_path):
    X, y = TABLE["X"], TABLE["zeros"]
    model = SparseRegressor(alpha=0.1, family=Tweedie(1.3))
    assert clone(model).family == Tweedie(1.3)
    search = GridSearchCV(model, {"family__power": [1.2, 1.8]}, cv=3).fit(X, y)
    assert search.best_estimator_.family.power in (1.2, 1.8)
    model.fit(X, y).save(tmp_path / "a.garrote")
    np.testing.assert_array_equal(load(tmp_path / "a.garrote").predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Tweedie(2), "power of Tweedie must lie between 1 and 2, got 2: .* 'gamma' 2"),
        (lambda: Tweedie(True), "between 1 and 2, got True"),
        (lambda: NegativeBinomial(0), "dispersion of NegativeBinomial must be positive"),
        (lambda: as_likelihood("tweedie(1.5,2)"), "takes numbers for power in parentheses"),
        (lambda: as_likelihood("gamma(2)"), "takes no settings in parentheses"),
        (lambda: as_likelihood("tweedie(many)"), "takes numbers for power"),
        (lambda: Tweedie(1.5).set_params(power=1.2), "search over whole families"),
        (lambda: NegativeBinomial().variance(1.0), "call adapt_to_data"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


@pytest.mark.parametrize("family", ["negative-binomial", "gamma", "tweedie", "inverse-gaussian"])
def test_responses_that_cannot_be_are_refused_before_any_work(family):
    X, y = TABLE["X"], response_of(family).astype(float)
    y[7] = -1.0
    with pytest.raises(ValueError, match="got -1 at row 7"):
        SparseRegressor(family=family).fit(X, y)
    y[7] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SparseRegressor(family=family).fit(X, y)


@pytest.mark.parametrize("method", ["enumerate", "metropolis"])
def test_posteriors_of_counts_are_those_of_all_models_fitted_one_by_one(method):
    X, y, weights = TABLE["X"], TABLE["counts"], TABLE["weights"]
    model = SpikeSlabRegressor(
        "bic",
        method,
        family=NegativeBinomial(0.5),
        random_state=0,
        inclusion=IndependentInclusion(0.5),
    ).fit(X, y, weights, offset=TABLE["offset"])
    logs = {}
    for members in product((False, True), repeat=4):
        fit = fit_newton(
            NegativeBinomial(0.5), X[:, members], y, sample_weight=weights, offset=TABLE["offset"]
        )
        logs[members] = fit.log_likelihood - 0.5 * np.log(weights.sum()) * sum(members)
    share = np.exp(np.array(list(logs.values())) - max(logs.values()))
    inclusion = share @ np.array(list(logs)) / share.sum()
    np.testing.assert_allclose(model.inclusion_probability_, inclusion, atol=1e-6)


def test_a_posterior_estimates_the_dispersion_at_its_means():
    X, y = TABLE["X"], TABLE["counts"]
    model = SpikeSlabRegressor(family="negative-binomial").fit(X, y)
    again = SpikeSlabRegressor(family=NegativeBinomial(model.dispersion_)).fit(X, y)
    np.testing.assert_allclose(
        again.inclusion_probability_, model.inclusion_probability_, atol=1e-3
    )
    mean, deviation = model.predict(X, return_std=True)
    least = NegativeBinomial(model.dispersion_).variance(mean)
    assert (deviation**2 >= least * (1 - 1e-9)).all()
    assert not any("too sure" in said for said in model.selection_.warnings)
