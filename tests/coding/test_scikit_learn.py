"""scikit-learn's checks of the transformers into codes."""

from garrote.coding import SparseCoder
from scikit_checks import scikit_learn_checks


@scikit_learn_checks(
    SparseCoder(),
    variants=[SparseCoder(method=name) for name in ("lasso", "threshold", "spike-slab")],
)
def test_transformers_keep_the_rules_of_scikit_learn(estimator, check):
    check(estimator)
