"""g-priors as settings: names, objects, files, and every method against the sum over all models."""

import numpy as np
import pytest
from sklearn.base import clone

import garrote
from garrote import SpikeSlabRegressor
from garrote.priors import CCH, GPrior, Robust
from garrote.priors.zellner import G_LAWS

LAWS = [*G_LAWS, CCH(1.0, 2.0, 40.0)]


def table():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((36, 5))
    X[:, 2] = 0.8 * X[:, 0] + 0.6 * X[:, 2]
    return X, X[:, 0] - 0.4 * X[:, 3] + rng.standard_normal(36)


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("method", ["sample", "search"])
def test_walks_and_searches_find_what_sums_do(law, method):
    X, y = table()
    exact = SpikeSlabRegressor(GPrior(law), "enumerate").fit(X, y)
    model = SpikeSlabRegressor(GPrior(law), method, random_state=0).fit(X, y)
    # A search leaves out models of next to no probability.
    near = 1e-6 if method == "search" else 0.03
    np.testing.assert_allclose(
        model.inclusion_probability_, exact.inclusion_probability_, rtol=0, atol=near
    )
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=0, atol=near)


def test_a_name_and_its_object_are_one():
    X, y = table()
    named = SpikeSlabRegressor(GPrior("robust"), "enumerate").fit(X, y)
    given = SpikeSlabRegressor(GPrior(Robust()), "enumerate").fit(X, y)
    np.testing.assert_array_equal(named.coef_, given.coef_)


def test_laws_are_cloned_searched_over_and_kept_in_files(tmp_path):
    X, y = table()
    model = SpikeSlabRegressor(GPrior(CCH(1.0, 2.0, 3.0)), "enumerate")
    model = clone(model).set_params(prior__g__s=5.0).fit(X, y)
    assert model.prior == GPrior(CCH(1.0, 2.0, 5.0))
    model.save(tmp_path / "model.garrote")
    same = garrote.load(tmp_path / "model.garrote")
    assert same.prior == model.prior
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
