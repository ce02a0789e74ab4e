"""scikit-learn's checks: all of them for one configuration a class, some for its variants."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

# What the quick suite asks of every variant too; the rest of its checks is marked slow.
ASKED_OF_VARIANTS = {
    "check_estimators_pickle",
    "check_fit_idempotent",
    "check_sample_weight_equivalence_on_dense_data",
}


def scikit_learn_checks(*estimators, variants=()):
    """Parametrise a test of ``(estimator, check)`` with every check of every estimator.

    Parameters
    ----------
    *estimators : estimators
        What the quick suite checks in full: one configuration of each class.
    variants : sequence of estimators
        Other configurations, most checks of which are slow.
    """
    cases = [_case(*case) for one in estimators for case in estimator_checks_generator(one)]
    for variant in variants:
        cases += [
            _case(*case, slow=_name(case[1]) not in ASKED_OF_VARIANTS)
            for case in estimator_checks_generator(variant)
        ]
    return pytest.mark.parametrize(("estimator", "check"), cases)


def _case(estimator, check, slow=False):
    marks = [pytest.mark.slow] if slow else []
    name = " ".join(repr(estimator).split())
    settings = "".join(f"-{key}={value}" for key, value in check.keywords.items())
    return pytest.param(estimator, check, marks=marks, id=f"{name}-{_name(check)}{settings}")


def _name(check):
    return check.func.__name__
