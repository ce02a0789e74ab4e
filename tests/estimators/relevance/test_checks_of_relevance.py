"""scikit-learn's checks of the estimators by relevance determination."""

import pytest

from garrote import (
    KernelFeatures,
    RelevanceClassifier,
    RelevanceRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
)
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@scikit_learn_checks(
    RelevanceRegressor(),
    RelevanceClassifier(),
    KernelFeatures(),
    RelevanceVectorRegressor(),
    RelevanceVectorClassifier(),
    variants=(RelevanceRegressor(method="em"), RelevanceVectorRegressor("poly")),
)
def test_estimators_by_relevance_keep_the_rules_of_scikit_learn(estimator, check):
    check(estimator)
