"""Designs side by side are one matrix."""

import numpy as np
import pytest
import scipy.sparse

from contracts import Plain, View, assert_near, sample_matrix
from garrote.designs import DenseDesign, JoinedDesign, SparseDesign

SOME = np.array([12, 4, 0, 11, 3])


def joined(X):
    return JoinedDesign(
        [
            DenseDesign(X[:, :5]),
            SparseDesign(scipy.sparse.csc_array(X[:, 5:9])),
            DenseDesign(X[:, 9:]),
        ]
    )


def test_joined_products_and_copies_equal_dense():
    X, rng = sample_matrix(), np.random.default_rng(0)
    design = joined(X)
    left, coef, mean = rng.standard_normal((3, 41)), rng.standard_normal((5, 2)), X.mean(axis=0)
    assert design.shape == X.shape
    assert_near(design.tdot(left), left @ X)
    assert_near(design.dot(SOME, coef), X[:, SOME] @ coef)
    assert_near(design.take(SOME, mean), X[:, SOME] - mean[SOME])
    assert_near(design.some_rows(np.array([7, 2])), X[[7, 2]])
    assert_near(design.pick(SOME).tdot(left), left @ X[:, SOME])


@pytest.mark.parametrize("weights", ["equal", "some zero"])
def test_joined_views_equal_dense(weights):
    X, view = sample_matrix(), View(True, True, weights, (2, 10))
    seen, plain = view.of(joined(X)), Plain(X, view)
    assert_near(seen.block(np.array([4, 0, 11])), plain.Z[:, [4, 0, 11]])
    assert_near(seen.curvature, plain.curvature)


def test_designs_of_other_rows_do_not_go_together():
    with pytest.raises(ValueError, match=r"same rows, got \[4, 5\]"):
        JoinedDesign([DenseDesign(np.ones((4, 2))), DenseDesign(np.ones((5, 2)))])
