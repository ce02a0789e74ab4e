"""From statistics of one or several copies to a Selection."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from garrote.arrays import Array, Floats
from garrote.priors import ColumnGroups
from garrote.problem import Problem
from garrote.results.certificates import Certificate
from garrote.results.error_control import ErrorControl
from garrote.results.selections.evidence import Q_VALUE
from garrote.results.selections.groups import VariableGroups
from garrote.results.selections.selection import Selection
from garrote.results.selections.verdict import Account, Verdict
from garrote.selecting.filling import Origin, fill_selection
from garrote.selecting.knockoffs.filtering import (
    e_q_values,
    e_values,
    q_values,
    select_by_e_values,
    threshold,
)

# Several copies are filtered at this share of q each, as Ren & Barber (2024) advise.
_SHARE_OF_Q = 0.5
# Variables in the table of correlations.
_SHOWN = 25
_NO_INTERVALS = (
    "effects are those of the base beside the copies, without intervals: q is what is kept"
)


@dataclass(frozen=True)
class Outcome:
    """What is selected among G groups, by what evidence, and by which rule.

    Attributes
    ----------
    selected : array of bool of shape (G,)
    thresholds : array of shape (n_copies,)
    q_values, e_values : array of shape (G,)
    rule : str
    notes : tuple of str
    """

    selected: Array
    thresholds: Floats
    q_values: Floats
    e_values: Floats
    rule: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, statistics: Floats, q: float, plus: bool) -> "Outcome":
        """Filter the statistics of one copy, or average e-values of several (n_copies x G)."""
        copies, count = statistics.shape
        each = q if copies == 1 else _SHARE_OF_Q * q
        thresholds = np.array([threshold(one, each, plus) for one in statistics])
        means = np.mean([e_values(one, each) for one in statistics], axis=0)
        notes: tuple[str, ...] = ()
        if plus and count * each < 1:
            notes = (
                f"at q = {q:g} at least {int(np.ceil(1 / each - 1e-9))} variables must be found for any "
                f"to be selected, and there are {count}: raise q, or take plus=False",
            )
        if copies == 1:
            found = q_values(statistics[0], plus)
            border = thresholds[0]
            name = "knockoff+" if plus else "knockoff"
            said = f"W >= {border:.3g}" if np.isfinite(border) else "no W is large enough"
            selected = statistics[0] >= border
            return cls(selected, thresholds, found, means, f"{name} at q = {q:g}, {said}", notes)
        rule = f"e-values of {copies} copies, averaged, e-BH at q = {q:g}"
        selected = select_by_e_values(means, q)
        return cls(selected, thresholds, e_q_values(means), means, rule, notes)


def select_by_knockoffs(
    problem: Problem,
    outcome: Outcome,
    origin: Origin,
    groups: ColumnGroups,
    *,
    q: float,
    effect: Floats,
    noise_variance: float,
    certificate: Certificate,
    assumption: str,
    notes: Sequence[str],
) -> Selection:
    """Return a selection of columns, with the q-value of each one's group."""
    nothing, numbers = np.full(problem.n_features, np.nan), groups.numbers
    rate = "the false discovery rate, the expected share of false ones among those selected,"
    if outcome.rule.startswith("knockoff at"):
        rate = "the modified false discovery rate E[V / (R + 1/q)]"
    verdict = Verdict(
        selected=outcome.selected[numbers],
        probability=outcome.q_values[numbers],
        effect=effect,
        standard_error=nothing,
        lower=nothing,
        upper=nothing,
        evidence=Q_VALUE,
        intervals=_NO_INTERVALS,
        rule=outcome.rule,
    )
    account = Account(
        method="knockoffs",
        response=origin.response,
        noise_variance=noise_variance,
        certificate=certificate,
        converged=certificate.value <= 1e-4,
        provenance=origin.provenance,
    )
    shown = np.argsort(verdict.probability, kind="stable")[:_SHOWN]
    found = fill_selection(problem, verdict, account, origin.names, shown, notes).annotated(
        control=ErrorControl(
            method="knockoffs",
            promise=f"{rate} is at most {q:g}",
            asks=(f"that holds if {assumption}",),
            threshold=q,
            bound=q,
            counts="expected share of false ones among the selected",
        )
    )
    if groups.are_single:
        return found
    owner = [groups.labels[number] for number in numbers]
    return found.annotated(groups=VariableGroups.of_labels(owner, origin.names))
