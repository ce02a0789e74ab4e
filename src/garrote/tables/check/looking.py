"""All findings of a table together: first what its cells are, then what their numbers tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.selections.data_check import DataCheck, Finding, in_order, names_left_out
from garrote.tables.check.gaps import Gaps
from garrote.tables.check.identifiers import find_identifiers
from garrote.tables.check.leaks import find_leaks
from garrote.tables.check.spikes import find_spikes
from garrote.tables.check.target import find_target
from garrote.tables.check.types import NUMBER_SHARE, find_types
from garrote.tables.coding import CodedColumn
from garrote.tables.errors import RefusedTable
from garrote.tables.filling import Destination, allocate, fill
from garrote.tables.formats.base import TableFile
from garrote.tables.notes import on_nones
from garrote.tables.roles import Roles, Wanted
from garrote.tables.survey import Survey, count_words


@dataclass(frozen=True)
class Look:
    """What the first pass over a table told; the numbers come with the second."""

    table: TableFile
    roles: Roles
    found: Survey
    wanted: Wanted
    gaps: Gaps
    findings: tuple[Finding, ...]

    @classmethod
    def at(cls, table: TableFile, roles: Roles, found: Survey, wanted: Wanted) -> "Look":
        """Look at the types of all columns, and at what is missing."""
        imputes = wanted.imputes and not _many_classes(table, roles, found)
        gaps = Gaps(table, roles, found, wanted.missing, imputes)
        columns = [j for j in roles.variables if found.columns[j].kind == "word"]
        words = count_words(table, columns, ~gaps.without_target)
        types = find_types(
            table, roles, found, words, wanted.encode, partial(_is_unasked, roles, wanted)
        )
        return cls(table, roles, found, wanted, gaps, (*types, *gaps.find()))

    def refuse_what_blocks(self) -> None:
        """Refuse the table if something stands in the way, with all else that is to be said of it."""
        if any(finding.blocks for finding in self.findings):
            nones = on_nones(self.table, self.roles, self.found)
            raise RefusedTable(self.table.label, self.check(*self._numbers(), nones))

    def check(
        self, names: Sequence[str], X: Floats, y: Array | None, reading: Sequence[str] = ()
    ) -> DataCheck:
        """Return all findings; ``names`` are those of the table's columns that X is made of."""
        target = self.wanted.target or ""
        identifiers = self._identifiers(names, X)
        told = {
            name
            for finding in identifiers
            for name in (*finding.remedy.get("--exclude", ()), *finding.left_out)
        }
        values = [
            *([] if self.wanted.family else find_target(target, y, self.wanted.labels)),
            *identifiers,
            *find_leaks(names, X, y, target, told),
            *find_spikes(names, X, y),
        ]
        findings = [self._with_gaps(finding) for finding in (*self.findings, *values)]
        return DataCheck(in_order(self._leaving_some(findings)), tuple(reading))

    def _identifiers(self, names: Sequence[str], X: Floats) -> list[Finding]:
        """Return identifiers; they are left out unless asked for by name, or if nothing were left."""
        asked = [
            self.table.names[j]
            for j in self.roles.variables
            if not _is_unasked(self.roles, self.wanted, j)
        ]
        found = find_identifiers(names, X, self.found.n_rows, asked)
        if set(names_left_out(found)) >= {self.table.names[j] for j in self.roles.variables}:
            return find_identifiers(names, X, self.found.n_rows, names)
        return found

    def _with_gaps(self, finding: Finding) -> Finding:
        """Say also what to do about the gaps that a remedy makes among the variables."""
        settled = self.wanted.missing != "error" or finding.topic == "target"
        if "--na" not in finding.remedy or settled:
            return finding
        return replace(finding, remedy={**finding.remedy, **self.gaps.way()})

    def _leaving_some(self, findings: Sequence[Finding]) -> list[Finding]:
        """Take back proposals to leave columns out if no column would be left."""
        left = {self.table.names[j] for j in self.roles.variables}
        for finding in findings:
            left -= {*finding.remedy.get("--exclude", ()), *finding.left_out}
        if left:
            return list(findings)
        return [
            f if f.blocks or "--exclude" not in f.remedy else replace(f, remedy={})
            for f in findings
        ]

    def _numbers(self) -> tuple[list[str], Floats, Array | None]:
        """Return the columns that are numbers already, and the target if it is one."""
        target, keep = self.roles.target, ~self.gaps.without_target
        columns = [j for j in self.roles.variables if self._is_number(j)]
        names = [self.table.names[j] for j in columns]
        rows = int(keep.sum())
        X = allocate(self.table, rows, len(columns)) if columns else np.empty((rows, 0))
        goals = [
            Destination(j, self._number_column(j), X[:, k : k + 1]) for k, j in enumerate(columns)
        ]
        y = None
        if target is not None and self._is_number(target):
            y = np.empty(rows)
            goals.append(Destination(target, self._number_column(target), y[:, None]))
        fill(self.table, goals, keep)
        if y is None:
            return names, X, None
        known = np.isfinite(y)
        return names, X[known], y[known]

    def _is_number(self, j: int) -> bool:
        facts = self.found.columns[j]
        mostly = facts.resembles == "mostly numbers" and facts.share >= NUMBER_SHARE
        return facts.kind in ("number", "boolean") or mostly

    def _number_column(self, j: int) -> CodedColumn:
        kind = "boolean" if self.found.columns[j].kind == "boolean" else "number"
        return CodedColumn(self.table.names[j], kind)


def _is_unasked(roles: Roles, wanted: Wanted, column: int) -> bool:
    """Tell whether a column is used for want of other wishes; not where it is all that there is."""
    return wanted.include is None and column not in roles.covariates and len(roles.variables) > 1


def _many_classes(table: TableFile, roles: Roles, found: Survey) -> bool:
    """Tell whether the target names more than two classes: no posterior of these can be pooled."""
    target = roles.target
    if target is None or found.columns[target].kind != "word" or found.columns[target].resembles:
        return False
    known = ~found.incomplete([target])
    return len(count_words(table, [target], known)[target]) > 2
