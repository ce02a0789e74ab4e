"""scikit-learn's checks of the transformers into codes."""

import pytest

from garrote.coding import (
    KSVD,
    BetaProcessDictionary,
    DictionaryLearning,
    NonNegativeFactorization,
    SparseCoder,
    SparseMatrixFactorization,
    SpikeSlabFactors,
)
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:the objective still fell")
CODERS = [SparseCoder(method=name) for name in ("lasso", "non-negative", "threshold", "spike-slab")]
LEARNERS = [DictionaryLearning(method=method) for method in ("online", KSVD(max_rounds=5))]
LEARNERS += [NonNegativeFactorization(alpha=0.1)]
LEARNERS += [SparseMatrixFactorization(method=SpikeSlabFactors(1, 20))]


@scikit_learn_checks(
    SparseCoder(),
    DictionaryLearning(),
    NonNegativeFactorization(),
    BetaProcessDictionary(8, n_steps=4, burn_in=4),
    SparseMatrixFactorization(),
    variants=[*CODERS, *LEARNERS],
)
def test_transformers_keep_the_rules_of_scikit_learn(estimator, check):
    check(estimator)
