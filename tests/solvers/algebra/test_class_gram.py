"""Second derivatives of several classes, against their definition."""

import numpy as np
import pytest

from garrote.solvers.algebra.class_gram import ClassGram

ROWS, COLUMNS, CLASSES = 30, 4, 3


def second_derivatives(X, mean, share, centered):
    """Return those of all coefficients, class by class, less what the intercepts explain."""
    weight = np.array(
        [[(k == m) * mean[k] - mean[k] * mean[m] for m in range(CLASSES)] for k in range(CLASSES)]
    )
    among = np.einsum("ij,kmi,i,il->kjml", X, weight, share, X).reshape(2 * (CLASSES * COLUMNS,))
    across = np.einsum("ij,kmi,i->kjm", X, weight, share).reshape(-1, CLASSES)
    intercepts = np.einsum("kmi,i->km", weight, share)
    return among - across @ np.linalg.pinv(intercepts) @ across.T if centered else among


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("together", [1, 3, 12])
def test_second_derivatives_are_those_of_the_definition_however_many_join_at_once(
    together, centered
):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.standard_normal((ROWS, COLUMNS)))
    odds = np.exp(rng.standard_normal((CLASSES, ROWS)))
    mean, share = odds / odds.sum(axis=0), rng.dirichlet(np.ones(ROWS))
    owner, column = np.divmod(np.arange(CLASSES * COLUMNS), COLUMNS)
    kept = ClassGram(mean, share, centered)
    order = rng.permutation(CLASSES * COLUMNS)
    for first in range(0, len(order), together):
        kept.take(order[: first + together], owner, column, X)
    expected = second_derivatives(X, mean, share, centered)[np.ix_(kept.places, kept.places)]
    np.testing.assert_allclose(kept.products, expected, atol=1e-7)  # a little ridge is added
    np.testing.assert_allclose(
        kept.products - np.diag(np.diag(kept.products)),
        expected - np.diag(np.diag(expected)),
        atol=1e-14,
    )
