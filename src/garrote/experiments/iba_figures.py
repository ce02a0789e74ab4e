"""Iba's Figures 1 and 2: inclusion probabilities on Boston housing as the penalty h rises.

The response is the logarithm of the median value, the noise variance is estimated. At each h the paper
plots the solution that most starts lead to; here the one that is reached by lowering p from the dense
side is shown beside it, because the two part for a wide range of h. The paper takes "the dataset from
p.244 of Belsley et al.", in which five columns are transformed; both tables are run.
"""

from collections import Counter
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.experiments.boston import as_belsley, load_boston
from garrote.experiments.drawing import GARROTE, LASSO, OTHER, make_axes
from garrote.experiments.report import Report, StudySettings
from garrote.problem import Problem
from garrote.solvers.garrote.spins import solve_spins
from garrote.summaries import Table

_TYPICAL = (0.0, 2.0, 4.0, 8.0)
_PENALTIES = np.arange(0.0, 31.0)
_STARTS = 40
_TOL = 1e-7
# The variable of which the text says that it decays gradually, and those that stay in.
_GRADUAL = 4
_STAY = (1, 6, 13)
_NAMED = "1 6 13"
_PLAIN, _BELSLEY = "plain columns", "Belsley's columns"
_TRANSFORMED = "5 is NOX^2, 6 is RM^2, 8 is log DIS, 9 is log RAD, and 13 is log LSTAT"


def run_figure_1(settings: StudySettings) -> Report:
    """Show the inclusion probabilities at some typical penalties."""
    sweeps = _sweep_both(settings, np.array(_TYPICAL))
    names = {_PLAIN: load_boston().names, _BELSLEY: as_belsley(load_boston()).names}
    tables = []
    for which, numbers in sweeps.items():
        columns: dict[str, list[Any]] = {"i": list(range(1, 14)), "": list(names[which])}
        for h, probability in zip(_TYPICAL, numbers["frequent"], strict=True):
            columns[f"h = {h:g}"] = [f"{p:.2f}" for p in probability]
        tables.append(Table(columns, caption=which))
    return Report(
        "Iba Figure 1: inclusion probabilities at typical penalties h, Boston housing",
        tuple(tables),
        (
            f"the solution that most of {sweeps[_PLAIN]['starts']} random starts lead to; the paper "
            "does not say which values of h it shows",
        ),
        sweeps[_PLAIN] | {_BELSLEY: sweeps[_BELSLEY]},
        lambda: _draw_typical(sweeps),
    )


def run_figure_2(settings: StudySettings) -> Report:
    """Follow every variable as the penalty rises."""
    penalties = _PENALTIES[_PENALTIES % 2 == 0] if settings.quick else _PENALTIES
    sweeps = _sweep_both(settings, penalties)
    remarks = []
    for which, numbers in sweeps.items():
        frequent = numbers["frequent"]
        first = list(zip(penalties, frequent[:, _GRADUAL - 1], strict=True))[:6]
        last = {i: _last(penalties, frequent[:, i - 1]) for i in _STAY}
        remarks += [
            f"paper: p is near 1 for variables 1, 6 and 13 even for larger penalties; ours, {which}: "
            f"{_survivors(penalties, frequent)}; last h with p > 0.5: "
            + ", ".join(f"{i} at {h:g}" for i, h in last.items()),
            "paper: most others jump, or decay like exp(-h) / (exp(h) + exp(-h)); variable 4 decays "
            f"gradually; ours, {which}: {', '.join(f'{p:.2f} at h = {h:g}' for h, p in first)}",
            _optima(penalties, numbers, which),
        ]
    return Report(
        "Iba Figure 2: inclusion probabilities as the penalty h rises, Boston housing",
        tuple(_tabulate(penalties, numbers, which) for which, numbers in sweeps.items()),
        (*remarks, "in Belsley's table " + _TRANSFORMED),
        sweeps[_PLAIN] | {_BELSLEY: sweeps[_BELSLEY]},
        lambda: _draw_sweep(penalties, sweeps),
    )


def _tabulate(penalties: Floats, numbers: dict[str, Any], which: str) -> Table:
    frequent, dense = numbers["frequent"], numbers["dense"]
    return Table(
        {
            "h": [f"{h:g}" for h in penalties],
            "most starts": [_members(p) for p in frequent],
            "share": [f"{share:.0%}" for share in numbers["share"]],
            "kinds": [str(count) for count in numbers["count"]],
            "from the dense side": [_members(p) for p in dense],
            "p_4": [f"{p:.2f}" for p in frequent[:, _GRADUAL - 1]],
            "p_4 there": [f"{p:.2f}" for p in dense[:, _GRADUAL - 1]],
        },
        caption=which,
    )


def _sweep_both(settings: StudySettings, penalties: Floats) -> dict[str, dict[str, Any]]:
    """Return the solutions of most starts and from the dense side, for both tables."""
    count = settings.count(_STARTS, quick=8)
    data, sweeps = load_boston(), {}
    for which, table in ((_PLAIN, data), (_BELSLEY, as_belsley(data))):
        problem = Problem.from_rows(table.X, np.log(table.y))
        starts = np.random.default_rng(settings.seed).uniform(-1, 1, size=(count, 13))
        sweeps[which] = _solve_all(problem, penalties, starts)
    return sweeps


def _survivors(penalties: Floats, frequent: Floats) -> str:
    """Say for which penalties the variables that the text names stay, and no other."""
    named = [h for h, p in zip(penalties, frequent, strict=True) if _members(p) == _NAMED]
    if not named:
        return "they are nowhere those that stay alone"
    return f"they stay, and no other, from h = {named[0]:g} to {named[-1]:g}"


def _solve_all(problem: Problem, penalties: Floats, starts: Floats) -> dict[str, Any]:
    frequent, dense, share, kinds, likelihood = [], [], [], [], []
    m = np.ones(13)
    for h in penalties:
        found = [solve_spins(problem, float(h), start, tol=_TOL) for start in starts]
        alike = Counter(tuple(one.probability.round(2)) for one in found)
        (kind, times), *_ = alike.most_common(1)
        usual = next(one for one in found if tuple(one.probability.round(2)) == kind)
        above = solve_spins(problem, float(h), m, tol=_TOL)
        m = above.magnetisation
        frequent.append(usual.probability)
        dense.append(above.probability)
        share.append(times / len(starts))
        kinds.append(len(alike))
        likelihood.append((usual.log_likelihood, above.log_likelihood))
    return {
        "frequent": np.array(frequent),
        "dense": np.array(dense),
        "share": np.array(share),
        "count": np.array(kinds),
        "likelihood": np.array(likelihood),
        "starts": len(starts),
    }


def _members(probability: Floats) -> str:
    return " ".join(str(i + 1) for i in np.flatnonzero(probability > 0.5))


def _last(penalties: Floats, probability: Floats) -> float:
    return float(penalties[np.flatnonzero(probability > 0.5)].max(initial=-np.inf))


def _optima(penalties: Floats, numbers: dict[str, Any], which: str) -> str:
    """Set the text's remark on local optima beside where the two solutions differ."""
    apart = np.abs(numbers["frequent"] - numbers["dense"]).max(axis=1) > 0.1
    stated = "paper: local optima are not serious"
    if not apart.any():
        return (
            f"{stated}; ours, {which}: most starts lead where h rising from the dense side does, "
            "at every h"
        )
    usual, above = numbers["likelihood"].T
    better = np.flatnonzero(apart & (above > usual))
    likely = (
        f"the latter has the larger marginal likelihood at {len(better)} of these, the last of them "
        f"h = {penalties[better[-1]]:g}"
        if len(better)
        else "the latter has the smaller marginal likelihood at all of these"
    )
    return (
        f"{stated}. Ours, {which}, depend on the start: at {np.count_nonzero(apart)} of "
        f"{len(penalties)} values of h, from {penalties[apart][0]:g} to {penalties[apart][-1]:g}, the "
        "solution of most starts differs from the one that h rising from the dense side leads to; "
        f"{likely}"
    )


def _draw_typical(sweeps: dict[str, dict[str, Any]]) -> Any:
    figure, axes = make_axes(rows=2, columns=len(_TYPICAL), width=12, height=5.4)
    for row, (which, numbers) in zip(axes, sweeps.items(), strict=True):
        for axis, h, probability in zip(row, _TYPICAL, numbers["frequent"], strict=True):
            axis.bar(np.arange(1, 14), probability, color=GARROTE)
            axis.set(title=f"h = {h:g}", xlabel="variable", ylim=(0, 1.05))
        row[0].set_ylabel(f"p, {which}")
    return figure


def _draw_sweep(penalties: Floats, sweeps: dict[str, dict[str, Any]]) -> Any:
    figure, axes = make_axes(rows=2, columns=2, width=11, height=8)
    for row, (which, numbers) in zip(axes, sweeps.items(), strict=True):
        for axis, key, title in zip(
            row, ("frequent", "dense"), ("most starts", "from the dense side"), strict=True
        ):
            _draw_probabilities(axis, penalties, numbers[key])
            axis.set(title=f"{which}, {title}", xlabel="h", ylabel="p")
    return figure


def _draw_probabilities(axis: Any, penalties: Floats, probability: Floats) -> None:
    for i, p in enumerate(probability.T, start=1):
        color = GARROTE if i in _STAY else LASSO if i == _GRADUAL else OTHER
        axis.plot(penalties, p, color=color, lw=1)
        # Marks of different variables at different penalties, so that they do not cover each other.
        for k in np.arange(i % 4, len(penalties), 4):
            axis.annotate(str(i), (penalties[k], p[k]), fontsize=7, color=color, ha="center")
