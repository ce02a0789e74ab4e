"""The penalised regressor and classifier as scikit-learn estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from garrote import SparseClassifier, SparseRegressor

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@parametrize_with_checks([SparseRegressor(), SparseClassifier()])
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
