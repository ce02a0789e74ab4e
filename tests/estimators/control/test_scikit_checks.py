"""scikit-learn's checks of estimators around another one.

Resamples of weighted rows are others than those of repeated rows: the check that compares both has noise
for data, of which these select nothing.
"""

import pytest
from sklearn.linear_model import Lasso

from garrote import Bolasso, SparseClassifier, SparseRegressor, StabilitySelection
from garrote.paths import FollowPath
from scikit_checks import scikit_learn_checks

LIGHT = FollowPath(alphas=10)
NUMBERS = SparseRegressor(method=LIGHT)
LABELS = SparseClassifier(family="probit", method=LIGHT)


@pytest.mark.filterwarnings("ignore:No features were selected")
@scikit_learn_checks(
    StabilitySelection(NUMBERS, n_resamples=10, n_features=1, threshold=0.9),
    Bolasso(SparseRegressor(alpha=0.3, method=LIGHT), n_resamples=40),
    variants=[
        # Of a class of one row, which the check on weights has, there are no halves.
        StabilitySelection(LABELS, scheme="bootstrap", n_resamples=20, n_features=2, threshold=1.0),
        StabilitySelection(Lasso(alpha=0.1), n_resamples=10, threshold=1.0),
        Bolasso(SparseClassifier(family="probit", alpha=0.15, method=LIGHT), n_resamples=40),
    ],
)
def test_scikit_learn_s_checks_pass(estimator, check):
    check(estimator)
