"""scikit-learn's checks of the estimators by relevance determination."""

import pytest

from garrote import (
    KernelFeatures,
    RelevanceClassifier,
    RelevanceRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
)
from garrote.inference import FixedPoint
from scikit_checks import scikit_learn_checks

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@scikit_learn_checks(
    RelevanceRegressor(),
    RelevanceClassifier(),
    KernelFeatures(),
    RelevanceVectorRegressor(),
    # Separated labels take thousands of steps to the usual accuracy.
    RelevanceVectorClassifier(method=FixedPoint(tol=1e-3)),
    variants=(
        RelevanceRegressor(method="em"),
        RelevanceVectorRegressor("poly"),
        RelevanceVectorClassifier(),
    ),
)
def test_estimators_by_relevance_keep_the_rules_of_scikit_learn(estimator, check):
    check(estimator)
