"""Families with a number of their own, fitted along with the coefficients: in turn, until it stays.

A dispersion that is taken from the null model holds for variation that the columns explain, too. So
likelihoods that can (`learn_from_fit`) learn it from the fitted means, the fit is made again, and so on.
Mean and dispersion of a negative binomial are orthogonal parameters: few rounds suffice (Lawless 1987).
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Floats
from garrote.likelihoods import learn_from_fit

_STILL = 1e-7
_MOST_ROUNDS = 30


def learns(family: Any) -> bool:
    """Tell whether a family, as given, leaves a number to be learned from the fit."""
    if type(family) not in learn_from_fit.registry:
        return False
    return any(getattr(family, name) is None for name in family.from_data)


def fit_in_turn(
    family: Any,
    likelihood: Any,
    fit: Callable[[Any], None],
    see: Callable[[], tuple[Floats, Floats, Floats]],
    still: float = _STILL,
    rough: float = 0.0,
) -> Any:
    """Fit with a likelihood, and with what it learns, until that stays; return the last likelihood.

    Parameters
    ----------
    family : Likelihood
        As it was given.
    likelihood : Likelihood
        With all that it takes from the data.
    fit : callable
        Fits with a likelihood.
    see : callable
        Returns responses, fitted linear predictors and weights of the rows.
    still : float
        A number has arrived where it moves by less than this share of itself.
    rough : float
        It has arrived, too, where it moves by less than this share and no less than before: what fits
        that are not exact leave undecided.
    """
    if not learns(family):
        fit(likelihood)
        return likelihood
    settled, moved, told = False, np.inf, list[warnings.WarningMessage]()
    for _ in range(_MOST_ROUNDS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit(likelihood)
        told = caught
        learned = learn_from_fit(likelihood, *see())
        before, moved = moved, _moved(family, likelihood, learned)
        settled = moved <= still or before <= 2.0 * moved <= 2.0 * rough
        if settled:
            break
        likelihood = learned
    for one in told:  # of fits on the way nobody needs to know
        warnings.warn(one.message, one.category, stacklevel=4)
    if not settled:
        names = " and ".join(family.from_data)
        warnings.warn(
            f"{names} of family={family.name!r} still moved after {_MOST_ROUNDS} fits: coefficients are "
            f"those of the last but one; give the family its {names}",
            ConvergenceWarning,
            stacklevel=4,
        )
    return likelihood


def with_learned(family: Any, model: Any) -> Any:
    """Return a family with the numbers that a model has taken from its data, once it is fitted."""
    taken = {name: getattr(model, f"{name}_", None) for name in family.from_data}
    return type(family)(**(family.get_params(deep=False) | taken)) if taken else family


def _moved(family: Any, one: Any, other: Any) -> float:
    """Return by what share of itself a number has moved, the one that did most."""
    pairs = [(getattr(one, name), getattr(other, name)) for name in family.from_data]
    return max(abs(a - b) / abs(b) if b else abs(a) for a, b in pairs)
