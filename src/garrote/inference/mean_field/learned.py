"""Hyperparameters of the mean field that are learned, by EM or by annealing pi: of shapes the best."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from garrote.inference.beliefs import Beliefs
from garrote.inference.mean_field.following import Place
from garrote.inference.mean_field.hyperparameters import Learning
from garrote.inference.mean_field.paired_mean_field import (
    Paired,
    PairedSetup,
    anneal_paired,
    fit_paired,
    paired_path,
    solve_paired,
)
from garrote.inference.mean_field.prior_grid import whole_cell
from garrote.inference.mean_field.solved import Found, GridPrior, look_around
from garrote.problem import Problem
from garrote.results.fit import Fit
from garrote.solvers.annealing import Annealed
from garrote.solvers.control import Control


class _Shaped(NamedTuple):
    """Beliefs with a known shape of the slab, and its log probability."""

    beliefs: Beliefs
    log_weight: float

    def in_words(self, found: Paired) -> str:
        """Return what was learned with it."""
        return found.at.in_words(self.beliefs.prior.known_separation)


def _at_one_prior(
    problem: Problem,
    shaped: _Shaped,
    best: Paired,
    rivals: dict[str, Fit],
    annealed: Sequence[Fit],
    control: Control,
) -> Found:
    """Return the optima at hyperparameters that were learned; they stand for all others of a shape."""
    here, beliefs = Place(0, 0), shaped.beliefs
    cell = whole_cell(Learning.under(beliefs, "mean-field"), beliefs, shaped.log_weight)
    prior = GridPrior(best.at, cell._replace(slab=cell.slab.at(best.at.variance)))
    optima = look_around(problem, beliefs, prior, rivals, annealed, control)
    return Found({here: prior}, {here: list(optima.fits)}, here, optima, best.converged, "")


def _with_best_shape(beliefs: Beliefs, learn: Callable[[Beliefs], Any]) -> tuple[_Shaped, Any]:
    """Return the shape of the slab for which most is learned, and what that is.

    What is learned has an ``objective``, to which the prior probability of a shape is added.
    """
    each = [(replace(beliefs, prior=slab), log) for log, slab in beliefs.prior.shapes()]
    found = [learn(shaped) for shaped, _ in each]
    objectives = [one.objective + log for one, (_, log) in zip(found, each, strict=True)]
    best = int(np.argmax(objectives))
    return _Shaped(*each[best]), found[best]


def learn_by_em(problem: Problem, beliefs: Beliefs, control: Control) -> Found:
    """Set hyperparameters by EM."""
    shaped, best = _with_best_shape(
        beliefs, lambda known: fit_paired(problem, known, control=control)
    )
    found = _at_one_prior(problem, shaped, best, {"EM": best.fit}, [best.fit], control)
    return found._replace(how=f"by mean field, hyperparameters by EM ({shaped.in_words(best)})")


class _Annealed(NamedTuple):
    """An annealed path, and the best of its solutions that have the odds asked for."""

    whole: Annealed[Paired]
    best: Paired

    @property
    def objective(self) -> float:
        """What the best solution has reached."""
        return self.best.objective


def _anneal(problem: Problem, beliefs: Beliefs, control: Control) -> _Annealed:
    whole = anneal_paired(problem, beliefs, control=control)
    wanted = whole
    if beliefs.inclusion.shared is None:  # the odds are given: gamma = 0 is what they say
        there = [one.at.log_odds == 0.0 for one in whole.forward]
        if not any(there):
            raise ValueError("no solution with the prior odds could be reached: too few rows")
        here = slice(there.index(True), there.index(True) + 1)
        wanted = replace(whole, forward=whole.forward[here], backward=whole.backward[here])
    return _Annealed(whole, wanted.best)


def learn_by_annealing(problem: Problem, beliefs: Beliefs, control: Control) -> Found:
    """Anneal pi and reheat it, the slab variance by EM at each."""
    shaped, (whole, best) = _with_best_shape(
        beliefs, lambda known: _anneal(problem, known, control)
    )
    place = [one.at.log_odds for one in whole.forward].index(best.at.log_odds)
    sides = {"annealed": whole.forward[place], "reheated": whole.backward[place]}
    setup = PairedSetup.of(problem, shaped.beliefs, control)
    rivals = {
        side: one.fit if one.fit is best.fit else solve_paired(setup, one.fit, best.at).fit
        for side, one in sides.items()
    }
    found = _at_one_prior(
        problem, shaped, best, rivals, [one.fit for one in whole.forward], control
    )  # other solutions on the path are on the way only
    how = f"by mean field, pi annealed and reheated ({shaped.in_words(best)})"
    return found._replace(how=how, path=paired_path(problem, whole))
