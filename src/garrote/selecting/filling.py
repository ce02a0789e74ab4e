"""The one place that fills a Selection: a verdict, and what all methods tell beside it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.problem import Problem
from garrote.results.selections.selection import Selection
from garrote.results.selections.verdict import Account, Verdict
from garrote.selecting.judging import LEVEL
from garrote.selecting.stand_ins import find_stand_ins, stand_in_notes

# Variables in the table of correlations.
_CORRELATED = 25
# A variable that equals the response has a correlation of 1 but for this.
_ROUNDING = 1e-12


class Origin(NamedTuple):
    """What was fitted: responses (none for z-scores), their name, those of columns, how to repeat it.

    ``outputs`` are the names of classes, of labels.
    """

    y: Floats
    response: str
    names: tuple[str, ...]
    provenance: dict[str, Any]
    outputs: tuple[str, ...] = ()

    def citing(self, reference: str | None) -> "Origin":
        """Return the same with another reference, if there is one."""
        if not reference:
            return self
        return self._replace(provenance={**self.provenance, "reference": reference})


def fill_selection(
    problem: Problem,
    verdict: Verdict,
    account: Account,
    names: Sequence[str],
    shown: Array,
    warnings: Sequence[str],
    chosen: Array | None = None,
) -> Selection:
    """Return what a verdict says of all variables, with those that could stand in for the chosen ones.

    Parameters
    ----------
    problem : Problem
    verdict : Verdict
    account : Account
    names : sequence of str
        Of all variables.
    shown : array of int
        Variables for the table of correlations, the most interesting first.
    warnings : sequence of str
        What a reader should know first; notes on stand-ins and constant columns follow.
    chosen : array of int, optional
        The variables whose stand-ins are looked for; by default all that are selected.
    """
    names, fixed = tuple(names), problem.scale.covariates
    if chosen is None:
        chosen = np.flatnonzero(verdict.selected & (problem.curvature > 0))
    stand_ins, same = find_stand_ins(problem, chosen, shown[:_CORRELATED])
    constant = np.setdiff1d(np.flatnonzero(problem.curvature <= 0), fixed)
    return Selection(
        **vars(verdict),
        **vars(account),
        names=names,
        level=LEVEL,
        interchangeable={names[j]: tuple(names[k] for k in ks) for j, ks in same.items()},
        constant=tuple(names[j] for j in constant),
        always_in=tuple(names[j] for j in fixed),
        warnings=(*warnings, *stand_in_notes(names, stand_ins, same, constant)),
        stand_ins=stand_ins,
        effect_scale=problem.likelihood.effect_scale,
        deviation=problem.table.deviation.astype(np.float64) if problem.has_rows else None,
        marginal_z=None if problem.likelihood.several else _marginal_z(problem),
    )


def _marginal_z(problem: Problem) -> Floats:
    """Return the z-scores of variables one by one, as numbers whatever the response is.

    Labels and counts are taken for numbers, which is near the score test of a variable that comes into
    the null model. Columns without content have 0.
    """
    scale = np.sqrt(problem.curvature * problem.yty)
    share = np.divide(problem.xty, scale, out=np.zeros_like(scale), where=scale > 0)
    share = np.clip(share, -1.0 + _ROUNDING, 1.0 - _ROUNDING)
    spent = len(problem.scale.covariates) + problem.scale.intercept_count + 1
    return np.asarray(share * np.sqrt(max(problem.n - spent, 1.0) / (1.0 - share**2)))
