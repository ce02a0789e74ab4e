"""Posteriors under laws in which variables hang together: exact, and by every walk that has them."""

import numpy as np
import pytest
import scipy.sparse

from garrote import Problem, SingleEffectsRegressor, SpikeSlabClassifier, SpikeSlabRegressor
from garrote.inference import Metropolis, Sample, infer
from garrote.priors import EffectSlab, GaussianSlab, GraphInclusion, GroupedInclusion
from structured_laws import LAWS, OFFSETS, D, log_story, posterior, sets, table


@pytest.mark.parametrize("name", LAWS)
def test_sums_over_all_sets_are_those_of_the_story(name):
    X, y = table()
    found = infer(Problem.from_rows(X, y), GaussianSlab(1.0), "enumerate", inclusion=LAWS[name])
    inclusion, sizes = posterior(X, y, name)
    np.testing.assert_allclose(found.posterior.inclusion_probability, inclusion, rtol=1e-8)
    np.testing.assert_allclose(found.posterior.size_probability, sizes, atol=1e-9)
    assert found.certificate.value < 1e-6
    assert LAWS[name].over(np.arange(D), D).words in found.how


@pytest.mark.parametrize("method", [Sample(n_steps=5000), Metropolis(n_steps=12000)])
@pytest.mark.parametrize("name", LAWS)
def test_walks_of_numbers_find_the_sums(name, method):
    X, y = table()
    found = infer(
        Problem.from_rows(X, y), GaussianSlab(1.0), method, inclusion=LAWS[name], random_state=0
    )
    inclusion, sizes = posterior(X, y, name)
    off = np.abs(found.posterior.inclusion_probability - inclusion).max()
    assert off < 0.025
    assert off < 5 * found.certificate.value
    np.testing.assert_allclose(found.posterior.size_probability, sizes, atol=0.04)


@pytest.fixture(scope="module")
def labelled():
    X, y = table(1, 90)
    return Problem.from_rows(X, (y > 0).astype(float), likelihood="binomial")


@pytest.mark.parametrize("name", ["two levels", "chain", "graph", "weak"])
def test_walks_of_labels_find_what_fits_of_all_sets_do(name, labelled):
    slab, law = EffectSlab(1.0), LAWS[name]
    exact = infer(labelled, slab, "enumerate", inclusion=law).posterior.inclusion_probability
    drawn = infer(labelled, slab, Sample(4000), inclusion=law, random_state=0).posterior
    walked = infer(labelled, slab, Metropolis(2000), inclusion=law, random_state=0).posterior
    np.testing.assert_allclose(walked.inclusion_probability, exact, atol=0.02)
    # Fits weigh models by Laplace's approximation.
    np.testing.assert_allclose(drawn.inclusion_probability, exact, atol=0.05)


def test_sets_of_labels_are_weighed_by_the_law(labelled):
    flat = infer(labelled, EffectSlab(1.0), "enumerate", inclusion=0.5).posterior
    tied = infer(labelled, EffectSlab(1.0), "enumerate", inclusion=LAWS["graph"]).posterior
    inside = sets()
    known = {tuple(np.flatnonzero(row)): k for k, row in enumerate(inside)}
    logs = np.full(len(inside), -np.inf)
    for members, p in zip(flat.law.members, flat.law.probability, strict=True):
        logs[known[tuple(members)]] = np.log(p)
    logs += log_story("graph")
    share = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(tied.inclusion_probability, share @ inside, atol=1e-4)


def test_counts_offsets_weights_covariates_and_sparse_columns_go_with_a_law():
    X, y = table(2)
    rng = np.random.default_rng(0)
    weights, shift = rng.integers(1, 3, len(y)), rng.standard_normal(len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    for family, response in (("gaussian", y + shift), ("poisson", rng.poisson(np.exp(0.3 * y)))):
        settings = {"inclusion": LAWS["graph"], "covariates": [7], "prior_log_odds": OFFSETS}
        model = SpikeSlabRegressor(GaussianSlab(1.0) if family == "gaussian" else EffectSlab(1.0),
                                   "enumerate", family=family, **settings)  # fmt: skip
        one = model.fit(X, response, weights, offset=shift).inclusion_probability_
        wide = scipy.sparse.csc_array(X[rows]) if family == "gaussian" else X[rows]
        two = model.fit(wide, response[rows], offset=shift[rows]).inclusion_probability_
        np.testing.assert_allclose(one, two, rtol=1e-6)
        assert one[7] == 1.0


def test_an_estimator_finds_names_saves_and_tells_of_its_law(tmp_path):
    import pandas as pd

    from garrote import load

    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    law = GraphInclusion([("a", "b"), ("b", "f")], coupling=1.5)
    model = SpikeSlabRegressor(GaussianSlab(1.0), inclusion=law, random_state=0).fit(frame, y)
    numbered = SpikeSlabRegressor(
        GaussianSlab(1.0), inclusion=GraphInclusion([(0, 1), (1, 5)], coupling=1.5)
    ).fit(X, y)
    same = numbered.inclusion_probability_
    np.testing.assert_allclose(model.inclusion_probability_, same, rtol=1e-10)
    assert "in a graph of 2 edges" in model.selection_.rule
    assert model.groups_ is None
    assert set(model.posterior_.credible_sets()[0].names) <= set("abcdefgh")
    model.save(tmp_path / "model.garrote")
    again = load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert again.inclusion == law
    with pytest.raises(ValueError, match="has 'z', but no variable is called so; known are"):
        model.set_params(inclusion=GraphInclusion([("a", "z")])).fit(frame, y)


def test_groups_of_columns_may_be_on_a_chain():
    X, y = table()
    chain = LAWS["chains, known"]
    one = infer(Problem.from_rows(X, y), GaussianSlab(1.0), "enumerate", inclusion=chain).posterior
    doubled = np.column_stack([X, X[:, 0] ** 2])
    law = GroupedInclusion([*range(D), 0], law=chain)
    two = infer(
        Problem.from_rows(doubled, y), GaussianSlab(1.0), "enumerate", inclusion=law
    ).posterior
    assert two.inclusion_probability[0] == two.inclusion_probability[D]
    assert np.abs(two.inclusion_probability[1:D] - one.inclusion_probability[1:]).max() < 0.2


def test_methods_that_do_not_have_a_law_name_those_that_have():
    X, y = table()
    for method in ("gibbs", "search", "em"):
        with pytest.raises(ValueError, match=r"'enumerate', 'sample', 'metro.*depend on others"):
            SpikeSlabRegressor(GaussianSlab(1.0), method, inclusion=LAWS["chain"]).fit(X, y)
    with pytest.raises(ValueError, match="take SpikeSlabRegressor"):
        SingleEffectsRegressor(inclusion=LAWS["chain"]).fit(X, y)
    with pytest.raises(ValueError, match="'sample', 'enumerate', 'metropolis'"):
        SpikeSlabClassifier("spike-slab", "mean-field", inclusion=LAWS["chain"]).fit(X, y > 0)
