"""scikit-learn's checks: quickly for one configuration a class, and slowly for its variants."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def scikit_learn_checks(*estimators, variants=()):
    """Parametrise a test of ``(estimator, check)`` with every check of every estimator.

    Parameters
    ----------
    *estimators : estimators
        What the quick suite checks in full: one configuration of each class.
    variants : sequence of estimators
        Other configurations, whose checks are marked slow.
    """
    asked = [(one, ()) for one in estimators] + [(one, pytest.mark.slow) for one in variants]
    cases = [
        pytest.param(*case, marks=marks, id=_described(*case))
        for one, marks in asked
        for case in estimator_checks_generator(one)
    ]
    return pytest.mark.parametrize(("estimator", "check"), cases)


def _described(estimator, check):
    name = " ".join(repr(estimator).split())
    settings = "".join(f"-{key}={value}" for key, value in check.keywords.items())
    return f"{name}-{check.func.__name__}{settings}"
