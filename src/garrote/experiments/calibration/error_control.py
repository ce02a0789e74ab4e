"""False selections on the same tables: Bayesian rates, knockoffs, and stability selection."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.control.knockoffs import Knockoffs
from garrote.estimators.control.stability_selection import StabilitySelection
from garrote.estimators.sparse_regressor import SparseRegressor
from garrote.estimators.spike_slab_regressor import SpikeSlabRegressor
from garrote.experiments.columns import autoregressive
from garrote.experiments.report import Report, StudySettings
from garrote.inference import Sample
from garrote.summaries import Table

_ROWS, _COLUMNS, _TRUE = 300, 100, 20
_EFFECT = 0.25
_RATE = 0.1
_TABLES = 40
INDEPENDENT = "independent columns"
_CORRELATIONS = {INDEPENDENT: 0.0, "AR(0.5)": 0.5, "AR(0.9)": 0.9}

Select = Callable[[Floats, Floats, int], Array]


class Tally(NamedTuple):
    """Of each table: the share of false ones among those selected, of true ones found, and how many."""

    false_share: Floats
    found: Floats
    selected: Floats


def run_error_control(settings: StudySettings) -> Report:
    """Count what each way selects falsely, and what it finds, where the truth is known."""
    count = settings.count(_TABLES, quick=1)
    designs = {INDEPENDENT: 0.0} if settings.quick else _CORRELATIONS
    numbers = {
        (design, name): tally(correlation, select, settings, count)
        for design, correlation in designs.items()
        for name, select in WAYS.items()
    }
    return Report(
        "False selections on the same tables: three ways to keep them few, and a lasso that has none",
        tuple(_tabulate(design, numbers) for design in designs),
        (
            f"{count} tables of each kind; N = {_ROWS}, D = {_COLUMNS}, {_TRUE} effects of size "
            f"{_EFFECT} and random sign, unit noise. Means over tables with their standard errors",
            f"Bayesian FDR: discoveries({_RATE}) of the sampled spike and slab, whose prior knows "
            "neither the number of effects nor that they are alike in size. It rests on prior and model",
            f"knockoffs: q = {_RATE}, model-X, lasso difference. It rests on the law of the columns and "
            f"on nothing else; at least {1 / _RATE:.0f} variables must be found for any to be selected",
            f"stability selection: the least threshold whose bound on the expected number of false "
            f"selections is at most {_RATE} of those selected. The bound counts variables that half of "
            "the rows hardly ever select, and is far from tight",
            "lasso: by 5-fold cross-validation, which chooses for prediction and controls nothing",
        ),
        numbers,
    )


def tally(correlation: float, select: Select, settings: StudySettings, count: int) -> Tally:
    """Select on tables of known truth."""
    rows = []
    for number, stream in enumerate(settings.streams(count)):
        rng = np.random.default_rng(stream)
        X = autoregressive(rng, _ROWS, _COLUMNS, correlation)
        true = np.zeros(_COLUMNS, dtype=bool)
        true[rng.choice(_COLUMNS, _TRUE, replace=False)] = True
        y = X @ np.where(true, _EFFECT * rng.choice([-1.0, 1.0], _COLUMNS), 0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a method warns of is part of what is measured
            chosen = select(X, y + rng.standard_normal(_ROWS), number)
        false = float(np.mean(~true[chosen])) if len(chosen) else 0.0
        rows.append((false, float(true[chosen].sum()) / _TRUE, float(len(chosen))))
    return Tally(*np.array(rows).T)


def _bayes(X: Floats, y: Floats, seed: int) -> Array:
    method = Sample(n_steps=4000, burn_in=500)
    return (
        SpikeSlabRegressor(method=method, random_state=seed).fit(X, y).posterior_.discoveries(_RATE)
    )


def _knockoffs(X: Floats, y: Floats, seed: int) -> Array:
    return np.asarray(Knockoffs(q=_RATE, random_state=seed).fit(X, y).get_support(indices=True))


def _stability(X: Floats, y: Floats, seed: int) -> Array:
    model = StabilitySelection(SparseRegressor(), false_share=_RATE, random_state=seed)
    return np.asarray(model.fit(X, y).get_support(indices=True))


def _lasso(X: Floats, y: Floats, seed: int) -> Array:
    return np.asarray(SparseRegressor().fit(X, y).get_support(indices=True))


WAYS: dict[str, Select] = {
    "Bayesian FDR": _bayes,
    "knockoffs": _knockoffs,
    "stability selection": _stability,
    "lasso": _lasso,
}


def _tabulate(design: str, numbers: dict[tuple[str, str], Tally]) -> Table:
    found = [numbers[design, name] for name in WAYS]
    return Table(
        {
            design: [*WAYS],
            "false share": [_with_error(one.false_share) for one in found],
            "found": [_with_error(one.found) for one in found],
            "selected": [_with_error(one.selected) for one in found],
        }
    )


def _with_error(values: Floats) -> str:
    if len(values) < 2:
        return f"{values[0]:.3g}"
    error = float(values.std(ddof=1)) / np.sqrt(len(values))
    return f"{values.mean():.3g} +- {error:.1g}"
