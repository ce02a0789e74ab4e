"""Every row of the tables of penalties, likelihoods and priors works: a new row is tested as it is."""

import contextlib

import numpy as np
import pytest

from garrote import SparseRegressor, SpikeSlabRegressor
from garrote.estimators.registry import SELECTORS
from garrote.inference import Gibbs
from garrote.likelihoods import FAMILIES, Likelihood, survival_times
from garrote.paths import FollowPath
from garrote.penalties import PENALTIES, Penalty
from garrote.priors import PRIORS, Prior, prior_class

# The effects, of which the largest two must be found.
EFFECTS = np.array([1.5, 0.0, -1.5, 0.0])
# Settings without which a prior has no meaning.
NEEDED = {"group-laplace": {"groups": [0, 1, 0, 1]}}
# Errors below half a posterior deviation are enough to tell these effects from none.
SHORT = Gibbs(n_steps=500, burn_in=200)
LIGHT = {"method": FollowPath(alphas=15), "cv": 3}


def rows(family, n=80):
    """Return a table of four columns, and the first kind of responses that a family takes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4))
    numbers = X @ EFFECTS + 0.5 * rng.standard_normal(n)
    counts = rng.poisson(np.exp(0.5 * X @ EFFECTS)).astype(float)
    labels = (X @ EFFECTS + rng.logistic(size=n) > 0).astype(float)
    times = survival_times(rng.exponential(np.exp(-X @ EFFECTS)), rng.random(n) < 0.8)
    for y in (numbers, counts, labels, np.exp(0.5 * numbers), times):
        with contextlib.suppress(ValueError):
            FAMILIES[family].check_response(y)
            return X, y
    raise AssertionError(f"add responses that the family {family!r} takes")


def assert_finds_the_effects(model, X, most):
    """Both effects are the largest and have their signs; the certificate is small."""
    coef = np.ravel(model.coef_)
    assert np.argsort(-np.abs(coef))[:2].tolist() in ([0, 2], [2, 0])
    assert coef[0] > 0 > coef[2]
    assert {0, 2} <= set(model.get_support(indices=True))
    assert model.certificate_.value <= most
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("name", PENALTIES)
def test_every_penalty_is_fitted_by_its_name(name):
    penalty = PENALTIES[name]()
    assert isinstance(penalty, Penalty)
    X, y = rows("gaussian")
    y = X @ EFFECTS if penalty.matches else y
    model = SparseRegressor(name, **LIGHT).fit(X, y)
    assert_finds_the_effects(model, X, 1e-8)
    same = SparseRegressor(penalty, alpha=model.alpha_, **LIGHT).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_fitted_by_its_name(family):
    assert isinstance(FAMILIES[family], Likelihood)
    X, y = rows(family)
    model = SparseRegressor(family=family, **LIGHT).fit(X, y)
    assert_finds_the_effects(model, X, 1e-8)
    same = SparseRegressor(family=FAMILIES[family], alpha=model.alpha_, **LIGHT).fit(X, y)
    np.testing.assert_array_equal(model.coef_, same.coef_)


@pytest.mark.parametrize("family", [k for k, one in FAMILIES.items() if one.integration])
def test_every_family_that_says_how_to_integrate_has_posteriors_over_models(family):
    X, y = rows(family)
    model = SpikeSlabRegressor("bic", family=family).fit(X, y)
    assert_finds_the_effects(model, X, 1e-6)


def ways():
    """Yield every name of a prior with the family and the estimator that it is for."""
    classes = [
        (place.load(), family)
        for row in SELECTORS.values()
        for place, family in ((row, "gaussian"), (row.for_labels, "binomial"))
        if place is not None
    ]
    for name, prior in PRIORS.items():
        for estimator, family in classes:
            kind = getattr(estimator, "_kind", None)
            how = FAMILIES[family].integration
            if kind == prior.kind and how in prior_class(name, how).integrations:
                yield pytest.param(name, family, estimator, id=f"{name}-{family}")


@pytest.mark.filterwarnings("ignore:sampled coefficients may be off")
@pytest.mark.parametrize(("name", "family", "estimator"), list(ways()))
def test_every_prior_is_inferred_by_its_name(name, family, estimator):
    prior = prior_class(name, FAMILIES[family].integration)(**NEEDED.get(name, {}))
    assert isinstance(prior, Prior)
    assert prior.kind == PRIORS[name].kind
    X, y = rows(family)
    model = estimator(prior if name in NEEDED else name)
    if hasattr(model, "random_state"):
        model.set_params(random_state=0)
    if prior.kind == "shrinkage":
        model.set_params(method=SHORT)
    model.fit(X, y)
    # Draws of coefficients, draws of models, and what is not drawn.
    off = {"gibbs": 0.4, "sample": 0.02}.get(model.method_, 1e-3)
    assert_finds_the_effects(model, X, off)


def test_every_prior_has_an_estimator():
    assert {way.values[0] for way in ways() if way.values[1] == "gaussian"} == set(PRIORS)
