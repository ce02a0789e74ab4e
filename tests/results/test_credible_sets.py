"""Credible sets: the rules by hand, and from every method."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from garrote import SingleEffectsRegressor, SpikeSlabRegressor, VariationalGarrote
from garrote.inference import Sample, Search
from garrote.results.credible_sets import (
    Inclusions,
    Likeness,
    Substitutes,
    most_probable,
    sets_of_models,
)
from garrote.results.laws import EffectsLaw
from simulated import near_copies

NAMES = tuple("abcdefgh")


def likeness(correlation):
    correlation = np.array(correlation, dtype=float)
    return Likeness(np.arange(len(correlation)), correlation)


def law(probability, log_bayes_factor=None):
    a = np.atleast_2d(np.array(probability, dtype=float))
    evidence = np.arange(len(a))[::-1] if log_bayes_factor is None else log_bayes_factor
    zero = np.zeros_like(a)
    return EffectsLaw(
        np.arange(a.shape[1]), a, zero, zero, a.sum(axis=1), np.asarray(evidence, dtype=float)
    )


ALIKE = likeness([[1, 0.9, 0.8, 0], [0.9, 1, 0.7, 0], [0.8, 0.7, 1, 0], [0, 0, 0, 1]])
SUBSTITUTES = Substitutes(ALIKE)


# --- the rule of single effects


def test_a_set_has_the_most_probable_variables_until_their_sum_is_the_coverage():
    (one,) = law([0.3, 0.6, 0.09, 0.01]).credible_sets(SUBSTITUTES, NAMES, 0.95, 0.5)
    assert one.variables.tolist() == [1, 0, 2]
    assert one.names == ("b", "a", "c")
    assert one.coverage == pytest.approx(0.99)
    assert one.purity == pytest.approx(0.7)
    assert one.mean_correlation == pytest.approx(0.8)
    assert one.median_correlation == pytest.approx(0.8)
    (small,) = law([0.3, 0.6, 0.09, 0.01]).credible_sets(SUBSTITUTES, NAMES, 0.9, 0.5)
    assert small.variables.tolist() == [1, 0]


def test_sets_of_unlike_variables_and_repeated_sets_are_left_out():
    effects = law([[0.5, 0, 0, 0.5], [0.5, 0.5, 0, 0], [0.6, 0.4, 0, 0]], [9.0, 3.0, 5.0])
    (one,) = effects.credible_sets(SUBSTITUTES, NAMES, 0.95, 0.5)
    assert one.log_bayes_factor == 5.0
    assert len(effects.credible_sets(SUBSTITUTES, NAMES, 0.95, 0.0)) == 2


def test_an_effect_that_may_not_be_there_makes_no_set():
    assert not law([0.9, 0.02, 0, 0]).credible_sets(SUBSTITUTES, NAMES, 0.95, 0.5)


# --- the rule of models


def mixture(models, weight):
    inside = np.zeros((len(models), 4))
    for row, members in zip(inside, models, strict=True):
        row[list(members)] = 1.0
    return Inclusions(np.arange(4), np.array(weight), inside)


def test_variables_that_take_turns_make_a_set_and_its_probability_is_that_of_any():
    found = mixture([[0, 3], [1, 3], [2], []], [0.5, 0.3, 0.16, 0.04])
    (one,) = sets_of_models(found, ALIKE, NAMES, 0.95, 0.5)
    assert one.variables.tolist() == [0, 1, 2]
    assert one.coverage == pytest.approx(0.96)
    np.testing.assert_allclose(one.probability, [0.5, 0.3, 0.16])
    assert np.isnan(one.log_bayes_factor)


def test_variables_that_go_together_or_are_unlike_do_not_substitute():
    together = mixture([[0, 1], [2], []], [0.6, 0.35, 0.05])
    # 0 and 2 take turns, as do 1 and 2; 0 and 1 are always in together.
    (one,) = sets_of_models(together, ALIKE, NAMES, 0.9, 0.5)
    assert one.variables.tolist() == [0, 2]
    unlike = mixture([[0], [3]], [0.5, 0.5])
    assert not sets_of_models(unlike, ALIKE, NAMES, 0.9, 0.5)
    assert not sets_of_models(mixture([[0], [2]], [0.5, 0.5]), ALIKE, NAMES, 0.9, 0.85)


def test_no_variable_is_in_two_sets():
    found = mixture([[0, 1], [0, 2], [3]], [0.49, 0.49, 0.02])
    sets = sets_of_models(found, ALIKE, NAMES, 0.95, 0.5)
    assert [one.variables.tolist() for one in sets] == [[0], [1, 2]]


def test_soft_solutions_count_by_the_chance_that_any_variable_is_in():
    soft = Inclusions(
        np.arange(4), np.array([0.5, 0.5]), np.array([[0.9, 0.1, 0, 0], [0, 0.98, 0, 0]])
    )
    (one,) = sets_of_models(soft, ALIKE, NAMES, 0.9, 0.5)
    assert one.coverage == pytest.approx(0.5 * (1 - 0.1 * 0.9) + 0.5 * 0.98)


# --- every method


@pytest.fixture(scope="module")
def copies():
    return near_copies()


METHODS = {
    "single effects": SingleEffectsRegressor(),
    "enumerate": SpikeSlabRegressor(),
    "g-prior": SpikeSlabRegressor("g-prior"),
    "bic": SpikeSlabRegressor("bic"),
    "sample": SpikeSlabRegressor(method=Sample(n_steps=3000), random_state=0),
    "metropolis": SpikeSlabRegressor(method="metropolis", random_state=0),
    "search": SpikeSlabRegressor(method=Search(n_steps=1000), random_state=0),
    "mean-field": SpikeSlabRegressor(method="mean-field"),
}


@pytest.mark.parametrize("method", METHODS)
def test_three_copies_make_one_set_whatever_the_method(copies, method):
    model = METHODS[method].fit(*copies)
    found = {tuple(sorted(one.variables.tolist())) for one in model.posterior_.credible_sets(0.9)}
    assert (9,) in found
    assert (2, 5, 7) in found
    for one in model.selection_.credible_sets:
        assert one.coverage >= 0.95
        assert one.purity >= 0.5


def test_labels_have_sets_too(copies):
    y = (copies[1] > 0).astype(int)
    model = SpikeSlabRegressor("bic", family="binomial").fit(copies[0][:, [2, 5, 9, 0]], y)
    assert [0, 1] in [sorted(one.variables.tolist()) for one in model.posterior_.credible_sets(0.9)]


def test_the_garrote_is_too_sure_of_one_copy_and_its_set_says_what_it_says(copies):
    model = VariationalGarrote(correct=False).fit(*copies)
    sets = [set(one.variables.tolist()) for one in model.posterior_.credible_sets()]
    assert {9} in sets
    assert all(len(one & {2, 5, 7}) <= 1 for one in sets)


def test_a_corrected_garrote_has_all_copies_in_one_set(copies):
    model = VariationalGarrote().fit(*copies)
    sets = [set(one.variables.tolist()) for one in model.posterior_.credible_sets()]
    assert {9} in sets
    assert {2, 5, 7} in sets


def test_the_probability_of_a_set_is_the_sum_over_all_models_that_have_any_of_it():
    """By hand, over all models of five columns under BIC."""
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 5))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    y = 0.7 * X[:, 0] + rng.standard_normal(50)
    X, y = X - X.mean(axis=0), y - y.mean()
    model = SpikeSlabRegressor("bic", inclusion=0.3).fit(X, y)
    weight = {}
    for size in range(6):
        for members in combinations(range(5), size):
            left = y - X[:, members] @ np.linalg.lstsq(X[:, members], y)[0] if members else y
            prior = size * np.log(0.3) + (5 - size) * np.log(0.7)
            weight[members] = prior - 25 * np.log(left @ left) - size / 2 * np.log(50)
    top = max(weight.values())
    total = sum(np.exp(w - top) for w in weight.values())
    (one, *_) = model.posterior_.credible_sets(0.95)
    assert sorted(one.variables.tolist()) == [0, 1]
    any_in = sum(np.exp(w - top) for m, w in weight.items() if {0, 1} & set(m)) / total
    assert one.coverage == pytest.approx(any_in, abs=1e-3)


def test_covariates_and_improbable_variables_are_in_no_set(copies):
    model = SpikeSlabRegressor(covariates=[2]).fit(*copies)
    inside = {j for one in model.posterior_.credible_sets() for j in one.variables.tolist()}
    assert 2 not in inside
    assert all(model.inclusion_probability_[j] > 0.01 for j in inside)


@pytest.mark.parametrize("coverage", [0, 1, -0.5, 95])
def test_a_coverage_that_is_no_probability_is_refused(copies, coverage):
    posterior = SingleEffectsRegressor().fit(*copies).posterior_
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
        posterior.credible_sets(coverage)
    with pytest.raises(ValueError, match=r"can be at most 0\.999"):
        posterior.credible_sets(0.9995)
    with pytest.raises(ValueError, match="min_purity must lie between 0 and 1"):
        posterior.credible_sets(min_purity=2)
    with pytest.raises(ValueError, match="without what credible sets need"):
        replace(posterior, substitutes=None).credible_sets()


@pytest.mark.parametrize("reach", [0.5, 0.95, 0.9999, 1.0])
@pytest.mark.parametrize("even", [0.01, 1.0, 1e4])
def test_the_most_probable_are_those_of_a_full_sort(reach, even):
    p = np.random.default_rng(0).dirichlet(np.full(500, even))
    p[7] = p[9]  # among equals the first comes first
    order = np.argsort(-p, kind="stable")
    expected = order[: int(np.searchsorted(np.cumsum(p[order]), reach)) + 1]
    np.testing.assert_array_equal(most_probable(p, reach), expected)
