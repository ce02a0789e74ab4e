"""Sums over sets of groups of numbers: as the oracle has them, however levels are coded."""

import numpy as np
import pytest
import scipy.sparse

from garrote import Problem, SpikeSlabRegressor
from garrote.inference import Sample, infer
from garrote.priors import BIC, GaussianSlab, GPrior, GroupedInclusion, TwoHumpedSlab
from reference_groups import grouped_posterior
from word_columns import by_group, make_table


def enumerated(X, y, groups, prior=None, parents=None, **settings):
    law = GroupedInclusion(groups, parents=parents)
    return infer(Problem.from_rows(X, y, **settings), prior, "enumerate", inclusion=law).posterior


def test_sums_equal_those_of_the_oracle():
    X, y, groups = make_table()
    found = enumerated(X, y, groups, GaussianSlab(0.7))
    inclusion, mean, _ = grouped_posterior(X, y, groups, [np.log(0.7)], [0.0])
    np.testing.assert_allclose(by_group(found.inclusion_probability, groups), inclusion, rtol=1e-9)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-8, atol=1e-10)


def test_an_unknown_variance_is_averaged_over():
    X, y, groups = make_table(1)
    found = enumerated(X, y, groups, GaussianSlab())
    grid = np.linspace(-8.0, 12.0, 81)
    inclusion, mean, _ = grouped_posterior(X, y, groups, grid, GaussianSlab.log_density(grid))
    np.testing.assert_allclose(by_group(found.inclusion_probability, groups), inclusion, atol=2e-4)
    np.testing.assert_allclose(found.mean, mean, atol=2e-4)


def test_weights_count_as_repeats_and_as_in_the_oracle():
    X, y, groups = make_table(2)
    weights = np.random.default_rng(0).integers(1, 3, len(y)).astype(float)
    found = enumerated(X, y, groups, GaussianSlab(1.0), sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights.astype(int))
    again = enumerated(X[rows], y[rows], groups, GaussianSlab(1.0))
    inclusion, mean, _ = grouped_posterior(X, y, groups, [0.0], [0.0], weights=weights)
    np.testing.assert_allclose(by_group(found.inclusion_probability, groups), inclusion, rtol=1e-8)
    np.testing.assert_allclose(again.inclusion_probability, found.inclusion_probability, rtol=1e-8)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-10)


def test_parents_have_to_be_in_as_in_the_oracle():
    X, y, groups = make_table(3)
    found = enumerated(X, y, groups, GaussianSlab(1.0), parents={"4": ["0", "1"], "3": "2"})
    pairs = [(4, 0), (4, 1), (3, 2)]
    inclusion, mean, _ = grouped_posterior(X, y, groups, [0.0], [0.0], pairs)
    np.testing.assert_allclose(by_group(found.inclusion_probability, groups), inclusion, rtol=1e-9)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("prior", [None, GaussianSlab(1.0), GPrior(), GPrior(20.0), BIC()])
@pytest.mark.parametrize("reference", [(2, 1), (None, 2), (3, None)])
def test_the_reference_level_does_not_matter(prior, reference):
    X, y, groups = make_table(4)
    other, _, others = make_table(4, reference=reference)
    one, two = enumerated(X, y, groups, prior), enumerated(other, y, others, prior)
    np.testing.assert_allclose(
        by_group(one.inclusion_probability, groups), by_group(two.inclusion_probability, others),
        rtol=1e-8,
    )  # fmt: skip
    fits = [X - X.mean(axis=0), other - other.mean(axis=0)]
    np.testing.assert_allclose(fits[0] @ one.mean, fits[1] @ two.mean, rtol=1e-8, atol=1e-9)
    assert one.log_evidence == pytest.approx(two.log_evidence, rel=1e-9)


def test_order_of_columns_and_rows_does_not_matter():
    X, y, groups = make_table(5)
    rng = np.random.default_rng(1)
    columns, rows = rng.permutation(X.shape[1]), rng.permutation(len(y))
    one = enumerated(X, y, groups)
    two = enumerated(X[np.ix_(rows, columns)], y[rows], np.array(groups)[columns])
    np.testing.assert_allclose(
        two.inclusion_probability, one.inclusion_probability[columns], rtol=1e-8
    )
    np.testing.assert_allclose(two.mean, one.mean[columns], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("method", ["enumerate", Sample(n_steps=500)], ids=["sums", "chains"])
def test_groups_of_one_column_are_columns_bit_for_bit(method):
    X, y, _ = make_table(6)
    plain = infer(Problem.from_rows(X, y), None, method, random_state=0).posterior
    law = GroupedInclusion(np.arange(8))
    grouped = infer(Problem.from_rows(X, y), None, method, inclusion=law, random_state=0).posterior
    np.testing.assert_array_equal(plain.inclusion_probability, grouped.inclusion_probability)
    np.testing.assert_array_equal(plain.mean, grouped.mean)


def test_moments_rows_and_sparse_columns_agree():
    X, y, groups = make_table(7)
    dense = enumerated(X, y, groups)
    sparse = enumerated(scipy.sparse.csc_array(X), y, groups)
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    moments = Problem.from_moments(Xc.T @ Xc, Xc.T @ yc, yc @ yc, len(y))
    # Moments have no intercept to spend a row on.
    law = GroupedInclusion(groups)
    free = infer(moments, GaussianSlab(1.0, noise_variance=1.0), "enumerate", inclusion=law)
    rows = enumerated(X, y, groups, GaussianSlab(1.0, noise_variance=1.0))
    np.testing.assert_allclose(sparse.inclusion_probability, dense.inclusion_probability, rtol=1e-8)
    np.testing.assert_allclose(sparse.mean, dense.mean, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(
        free.posterior.inclusion_probability, rows.inclusion_probability, rtol=1e-8
    )
    np.testing.assert_allclose(free.posterior.mean, rows.mean, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("prior", [GaussianSlab(1.0), GPrior(30.0)])
def test_covariates_are_always_in_and_the_coding_does_not_matter_beside_them(prior):
    X, y, groups = make_table(8)
    other, _, others = make_table(8, reference=(2, None))
    one = enumerated(X, y, groups, prior, covariates=np.array([3]))
    two = enumerated(other, y, others, prior, covariates=np.array([3]))
    assert one.inclusion_probability[3] == 1.0
    np.testing.assert_allclose(
        one.inclusion_probability[[0, 4, 5, 6]], two.inclusion_probability[[0, 4, 5, 6]], rtol=1e-8
    )
    np.testing.assert_allclose(one.mean[3:6], two.mean[3:6], rtol=1e-8)
    np.testing.assert_allclose(one.variance[3:6], two.variance[3:6], rtol=1e-6)


def test_predictions_and_their_deviations_do_not_depend_on_the_coding():
    X, y, groups = make_table(9)
    other, _, others = make_table(9, reference=(1, None))
    one = SpikeSlabRegressor(inclusion=GroupedInclusion(groups)).fit(X, y)
    two = SpikeSlabRegressor(inclusion=GroupedInclusion(others)).fit(other, y)
    for a, b in zip(
        one.predict(X, return_std=True), two.predict(other, return_std=True), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-7)
    assert one.intercept_ != pytest.approx(two.intercept_)


def test_models_sets_and_discoveries_are_those_of_groups():
    X, y, groups = make_table(10, n=200)
    labels = np.array(["site", "u", "v", "w", "kind"])[groups]
    found = enumerated(X, y, labels)
    best = found.models(1).columns
    assert best["model"] == ["u + site"] or best["model"] == ["site + u"]
    assert best["size"] == [2]
    assert set(found.discoveries(0.2).tolist()) == {0, 1, 2, 3}
    assert {name for each in found.credible_sets(0.9) for name in each.names} == {"site", "u"}
    assert found.most_probable_model.tolist() == [0, 1, 2, 3]


def test_copies_of_a_word_column_stand_in_for_each_other():
    X, y, _ = make_table(11, n=200)
    twice = np.column_stack([X, X[:, :3] @ np.random.default_rng(0).standard_normal((3, 3))])
    law = ["a", "a", "a", "u", "v", "w", "k", "k", "b", "b", "b"]
    found = enumerated(twice, y, law)
    sets = found.credible_sets(0.9)
    assert ("a", "b") in [tuple(sorted(each.names)) for each in sets]
    np.testing.assert_allclose(
        found.inclusion_probability[0], found.inclusion_probability[8], rtol=1e-6
    )


def test_levels_without_rows_and_copies_of_levels_change_nothing():
    X, y, groups = make_table(12)
    wide = np.column_stack([X, np.zeros(len(y)), X[:, 0]])
    one, two = enumerated(X, y, groups), enumerated(wide, y, [*groups, 0, 0])
    np.testing.assert_allclose(two.inclusion_probability[:8], one.inclusion_probability, rtol=1e-8)
    assert two.inclusion_probability[8] == two.inclusion_probability[0]
    assert two.mean[8] == 0.0
    assert two.mean[0] == pytest.approx(two.mean[9])
    assert two.mean[0] + two.mean[9] == pytest.approx(one.mean[0])


def test_too_many_groups_are_refused_with_what_to_do():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 40)), rng.standard_normal(50)
    with pytest.raises(ValueError, match="use method='sample'"):
        enumerated(X, y, np.arange(40) // 2)


def test_a_slab_of_two_humps_is_refused():
    X, y, groups = make_table(0)
    with pytest.raises(ValueError, match="take GaussianSlab"):
        enumerated(X, y, groups, TwoHumpedSlab())


def test_a_method_that_cannot_names_those_that_can():
    X, y, groups = make_table(0)
    with pytest.raises(ValueError, match=r"'enumerate'.*columns are in groups, or.*got 'em'"):
        SpikeSlabRegressor(method="em", inclusion=GroupedInclusion(groups)).fit(X, y)


def test_models_next_to_impossible_do_not_spoil_the_certificate():
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((1000, 5)), rng.standard_normal(1000)
    for size in np.linspace(1.2, 1.45, 11):  # at some of them the empty model has fewer digits
        problem = Problem.from_rows(X, size * X @ [1.0, 0.7, 0.5, 0.0, 0.3] + noise)
        law = GroupedInclusion([0, 1, 2, 3, 3])
        found = infer(problem, GaussianSlab(1.0), "enumerate", inclusion=law)
        assert found.certificate.value < 1e-6
        assert found.posterior.inclusion_probability.max() <= 1.0
