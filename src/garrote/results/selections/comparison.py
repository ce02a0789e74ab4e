"""Several selectors on the same rows: what each selects, and how well it predicts rows held out."""

import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.selections.groups import VariableGroups
from garrote.results.selections.held_out import LabelScores, PredictiveDensity
from garrote.results.selections.selection import Selection
from garrote.summaries import Table, shortened


@dataclass(frozen=True, repr=False)
class Comparison:
    """What several methods say of one table, measured on the same folds.

    Attributes
    ----------
    methods : tuple of M str
    selections : tuple of M Selection
    found_again : array of shape (M, D)
        The share of folds without which each method selects each variable.
    density : PredictiveDensity
        Of held-out rows, under the null model first and then under every method.
    fold_errors : array of shape (M + 1, folds)
        Held-out errors, those of the null model first.
    measure : str
        What an error is: "squared error" or "deviance".
    labels : tuple of M LabelScores, or None
    failures : tuple of (str, str)
        Methods that could not be fitted, and why.
    warnings : tuple of str
        What to know before trusting the numbers.
    source : str
        Where the rows come from.

    Examples
    --------
    >>> from garrote import SparseRegressor, compare
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=12, n_informative=2, random_state=0)
    >>> methods = {"lasso": SparseRegressor(rule="1se"), "mcp": SparseRegressor("mcp", rule="1se")}
    >>> found = compare(data.X, data.y, methods)
    >>> found.variables().columns["methods"][:2]
    [2, 2]
    """

    methods: tuple[str, ...]
    selections: tuple[Selection, ...]
    found_again: Floats
    density: PredictiveDensity
    fold_errors: Floats
    measure: str
    labels: tuple[LabelScores, ...] | None = None
    failures: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    source: str = ""

    @cached_property
    def by_variable(self) -> "Comparison":
        """The same with one entry for each variable, however many columns it has.

        A method that takes columns one by one selects a variable with any of its columns.
        """
        groups = self.groups
        if groups is None:
            return self
        merged = tuple(replace(one, groups=groups).by_variable for one in self.selections)
        return replace(self, selections=merged, found_again=groups.most(self.found_again))

    @property
    def groups(self) -> VariableGroups | None:
        """Which columns are one variable, where some method knows of such."""
        known = (one.groups for one in self.selections)
        return next((groups for groups in known if groups is not None and groups.several), None)

    @property
    def response(self) -> str:
        """What is explained."""
        return self.selections[0].response

    @property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return self.selections[0].names

    @property
    def selected(self) -> Array:
        """Which method selects which column (M x D)."""
        return np.array([one.selected for one in self.selections])

    @property
    def votes(self) -> Array:
        """How many methods select each column."""
        return np.asarray(self.selected.sum(axis=0))

    def ranked(self) -> Array:
        """Return the columns that any method selects, those of most methods and folds first."""
        again = self.found_again.mean(axis=0)
        order = np.lexsort((-again, -self.votes))
        return order[self.votes[order] > 0]

    def variables(self) -> Table:
        """Return who selects whom: for each variable the effects of the methods that select it.

        A variable of several columns has a row for each of these below its own.
        """
        found = self.by_variable
        rows = [row for g in found.ranked() for row in self._rows(found, int(g))]
        names = ["variable", *(["level"] if found is not self else []), "methods", "in folds"]
        return Table({name: [row[name] for row in rows] for name in [*names, *self.methods]})

    def _rows(self, found: "Comparison", g: int) -> list[dict[str, Any]]:
        """Return the row of a variable, and those of its levels."""
        effects = {
            method: float(one.effect[g]) if one.selected[g] else float("nan")
            for method, one in zip(self.methods, found.selections, strict=True)
        }
        told = {
            "methods": int(found.votes[g]), "in folds": float(found.found_again[:, g].mean())
        }  # fmt: skip
        whole = {"variable": found.names[g], "level": "", **told, **effects}
        if self.groups is None or len(columns := self.groups.columns(g)) == 1:
            return [whole]
        levels = [
            {
                "variable": found.names[g],
                "level": self.groups.labels[j],
                **dict.fromkeys(told),
                **{
                    method: float(one.effect[j]) if one.selected[j] else float("nan")
                    for method, one in zip(self.methods, self.selections, strict=True)
                },
            }
            for j in columns
        ]
        return [whole | dict.fromkeys(self.methods), *levels]

    def table(self) -> Table:
        """Return the methods: how many variables, held-out errors and log predictive densities."""
        columns: dict[str, Any] = {
            "method": ["null model", *self.methods],
            "selected": [0, *(one.n_selected for one in self.by_variable.selections)],
            self.measure: self.fold_errors.mean(axis=1).tolist(),
            "std. error": self.errors_of_errors.tolist(),
            "log density": self.density.mean.tolist(),
            "over null": [self.density.advantage(0, k)[0] for k in range(len(self.methods) + 1)],
        }
        if self.labels is not None:
            rows = [one.confusion.sum(axis=(1, 2)) for one in self.labels]
            accuracy = [
                np.average(one.accuracy, weights=w)
                for one, w in zip(self.labels, rows, strict=True)
            ]
            columns["accuracy"] = [self.labels[0].commonest, *map(float, accuracy)]
            columns["AUC"] = [0.5, *(float(np.nanmean(one.auc)) for one in self.labels)]
        return Table(columns)

    @property
    def errors_of_errors(self) -> Floats:
        """Standard errors of the held-out errors over folds."""
        folds = self.fold_errors.shape[1]
        if folds < 2:
            return np.zeros(len(self.fold_errors))
        return np.asarray(self.fold_errors.std(axis=1, ddof=1) / np.sqrt(folds))

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write one self-contained HTML page."""
        from garrote.report.comparison import write_comparison

        write_comparison(self, path, title=title)

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.variables()}"

    def __repr__(self) -> str:
        return shortened(f"{self.table()!r}\n\n{self.variables()!r}")

    def _repr_html_(self) -> str:
        return self.table()._repr_html_() + self.variables()._repr_html_()
