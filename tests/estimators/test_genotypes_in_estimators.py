"""Every Gaussian method, and labels, on 2-bit genotypes: equal to the dense answer to 1e-8."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from garrote import (
    GreedyRegressor,
    ShrinkageRegressor,
    SingleEffectsClassifier,
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
)
from garrote.designs import PlinkDesign
from genotype_files import drawn, filled, write_plink
from pairwise import by_pairs

N, COUNT = 120, 280
ESTIMATORS = {
    "garrote path": VariationalGarrote(gamma="free_energy"),
    "lasso path": SparseRegressor("lasso", alpha="bic"),
    "lasso, folds": SparseRegressor("lasso"),
    "mcp": SparseRegressor("mcp", alpha="bic"),
    "mean field": SpikeSlabRegressor(method="mean-field"),
    "sampler": SpikeSlabRegressor(method="sample", random_state=0),
    "single effects": SingleEffectsRegressor(),
    "greedy": GreedyRegressor(cv=3),
    "lasso, labels": SparseClassifier("lasso", alpha=0.02),
    "single effects, labels": SingleEffectsClassifier(),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Files of two chromosomes with gaps, the dense matrix, a response and weights."""
    folder, copies = tmp_path_factory.mktemp("genotypes"), drawn(N, COUNT, 3, 0.02)
    paths = [
        write_plink(folder / "one.bed", copies[:, :150], chromosome="1"),
        write_plink(folder / "two.bed", copies[:, 150:], chromosome="2", first=150),
    ]
    X, rng = filled(copies), np.random.default_rng(1)  # gaps of all rows at their means
    y = X[:, 5] - 0.8 * X[:, 100] + 0.6 * X[:, 250] + 0.5 * rng.standard_normal(N)
    return paths, copies, y, rng.uniform(0.5, 2.0, N)


@by_pairs(
    name=list(ESTIMATORS), files=["one", "two", "rows"], weighted=[False, True], beside=[(), (3, 7)]
)
def test_estimators_equal_the_dense_answer(table, name, files, weighted, beside):
    paths, copies, y, weights = table
    rows = np.random.default_rng(2).permutation(N)[: N - 10] if files == "rows" else np.arange(N)
    path = paths[0] if files == "one" else paths
    design = PlinkDesign(path, keep=rows if files == "rows" else None)
    dense = filled(copies[rows][:, : design.shape[1]])
    model = clone(ESTIMATORS[name])
    if beside and "covariates" in model.get_params():
        model.set_params(covariates=list(beside))
    elif beside and "penalty_factor" in model.get_params():
        model.set_params(penalty_factor=dict.fromkeys(beside, 0.0))
    response = (y > np.median(y)).astype(int)[rows] if is_classifier(model) else y[rows]
    given = weights[rows] if weighted else None
    expected = clone(model).fit(np.asfortranarray(dense), response, given)
    found = model.fit(design, response, given)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=0, atol=1e-8)
    ask = "decision_function" if is_classifier(model) else "predict"
    np.testing.assert_allclose(
        getattr(found, ask)(design), getattr(expected, ask)(dense), rtol=0, atol=1e-8
    )
    assert found.feature_names_in_[0] == "rs0"


def test_a_chain_that_shrinks_equals_the_dense_one(table):
    """Of few columns: with more columns than rows rounding alone, in a dense X too, parts chains."""
    paths, copies, y, _ = table
    design, dense = PlinkDesign(paths, variants=np.arange(90, 120)), filled(copies[:, 90:120])
    expected = ShrinkageRegressor(random_state=0).fit(np.asfortranarray(dense), y)
    found = ShrinkageRegressor(random_state=0).fit(design, y)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-8)
