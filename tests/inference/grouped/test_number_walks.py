"""Walks over sets of groups of numbers: as sums over all sets have them."""

import numpy as np
import pytest

from garrote import Problem, SpikeSlabRegressor
from garrote.inference import Metropolis, Sample, infer
from garrote.priors import GaussianSlab, GroupedInclusion
from word_columns import make_table


@pytest.mark.parametrize("parents", [None, {"4": ["0", "1"], "3": "2"}])
@pytest.mark.parametrize("method", [Sample(n_steps=6000), Metropolis(n_steps=15000)])
def test_walks_agree_with_sums_over_all_sets(method, parents):
    X, y, groups = make_table(3)
    law, problem = GroupedInclusion(groups, parents=parents), Problem.from_rows(X, y)
    exact = infer(problem, GaussianSlab(1.0), "enumerate", inclusion=law).posterior
    found = infer(problem, GaussianSlab(1.0), method, inclusion=law, random_state=0)
    drawn = found.posterior
    off = np.abs(drawn.inclusion_probability - exact.inclusion_probability).max()
    assert off < 0.02
    assert off < 5 * found.certificate.value
    np.testing.assert_allclose(drawn.mean, exact.mean, atol=0.02)
    np.testing.assert_allclose(drawn.size_probability, exact.size_probability, atol=0.03)
    np.testing.assert_allclose(np.sqrt(drawn.variance), np.sqrt(exact.variance), atol=0.02)


def test_an_unknown_variance_is_sampled_along():
    X, y, groups = make_table(1)
    law, problem = GroupedInclusion(groups), Problem.from_rows(X, y)
    exact = infer(problem, None, "enumerate", inclusion=law).posterior
    drawn = infer(problem, None, Sample(n_steps=20000), inclusion=law, random_state=0).posterior
    np.testing.assert_allclose(drawn.inclusion_probability, exact.inclusion_probability, atol=0.02)


def test_groups_that_nearly_equal_each_other_are_exchanged():
    rng = np.random.default_rng(0)
    n, levels = 300, np.eye(6)
    word = rng.integers(6, size=n)
    other = np.where(rng.random(n) < 0.03, rng.integers(6, size=n), word)
    X = np.column_stack([levels[word][:, 1:], levels[other][:, 1:], rng.standard_normal((n, 4))])
    y = X[:, :5] @ [1.0, -1.0, 0.5, 0.2, -0.3] + rng.standard_normal(n)
    law = GroupedInclusion([*[0] * 5, *[1] * 5, 2, 3, 4, 5])
    problem = Problem.from_rows(X, y)
    exact = infer(problem, GaussianSlab(1.0), "enumerate", inclusion=law).posterior
    drawn = infer(problem, GaussianSlab(1.0), Sample(6000), inclusion=law, random_state=1)
    assert 0.05 < exact.inclusion_probability[5] < 0.95
    np.testing.assert_allclose(
        drawn.posterior.inclusion_probability, exact.inclusion_probability, atol=0.02
    )
    assert drawn.certificate.value < 0.05
    assert [set(each.names) for each in drawn.posterior.credible_sets()] == [{"0", "1"}]


def test_auto_samples_many_groups_and_threads_change_nothing():
    rng = np.random.default_rng(2)
    X, y, groups = make_table(2, n=120)
    X = np.column_stack([X, rng.standard_normal((120, 20))])
    law = GroupedInclusion([*groups, *range(5, 25)])
    one, two = (
        SpikeSlabRegressor(inclusion=law, random_state=0, n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    )
    assert one.method_ == "sample"
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert len(np.unique(one.inclusion_probability_[:3])) == 1
    assert len(np.unique(one.posterior_.accuracy.monte_carlo_error[:3])) == 1
