"""scikit-learn's checks of support vector machines."""

from garrote import SmoothSVC, SmoothSVR
from scikit_checks import scikit_learn_checks


@scikit_learn_checks(
    SmoothSVC(),
    SmoothSVR(),
    variants=(SmoothSVC("linear", loss="huber"), SmoothSVC(landmarks=10, random_state=0)),
)
def test_support_vector_machines_keep_the_rules_of_scikit_learn(estimator, check):
    check(estimator)
