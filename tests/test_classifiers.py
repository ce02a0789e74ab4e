"""Bayesian classifiers as users call them: checks of scikit-learn, labels, hard cases, files."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from garrote import BayesianClassifier, VariationalGarroteClassifier

pytestmark = pytest.mark.filterwarnings("ignore:No features were selected")


@parametrize_with_checks(
    [
        BayesianClassifier(),
        BayesianClassifier(method="mean-field", slab_variance=1.0),
        VariationalGarroteClassifier(gamma="free_energy", gammas=8),
    ]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
