"""What missing values cost: rows without a target, rows that would be dropped, and columns to blame."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from garrote.arrays import Array
from garrote.results.selections.data_check import Finding
from garrote.summaries import listing
from garrote.tables.check.sentences import named
from garrote.tables.errors import TableError, count_of
from garrote.tables.formats.base import TableFile
from garrote.tables.kinds import BLANK
from garrote.tables.roles import DROPPING, Roles
from garrote.tables.survey import Survey

# Of the rows, dropping so many is a small loss, and more than so many is refused.
_FEW, _MOST = 0.05, 0.5
# Columns are named that would have to go for so many rows to stay.
_ENOUGH = 0.7
# A column that lacks more than this part of its values is better left out than filled in.
_EMPTY = 0.5
# Beyond so many numbers imputing takes too long to be proposed.
_MOST_IMPUTED, _MOST_COLUMNS = 20_000_000, 500


@dataclass(frozen=True)
class Gaps:
    """Where values are missing, by what happens to them.

    Blank cells among words cost nothing unless rows are dropped: they are a level of their own.
    """

    table: TableFile
    roles: Roles
    found: Survey
    missing: str
    imputes: bool = True

    @cached_property
    def without_target(self) -> Array:
        """Rows whose target is not known; they are left out whatever else is done."""
        return self.found.incomplete(self.roles.response)

    @property
    def kept(self) -> Array:
        """The rows that are used."""
        if self.missing in DROPPING:
            return ~self.found.incomplete(self.roles.used)
        return ~self.without_target

    def find(self) -> list[Finding]:
        """Return what stands in the way, and what is done about the rest."""
        findings = [*self._target(), *self._empty(), *self._single()]
        if self.missing in DROPPING:
            return findings + self._dropped()
        return [*findings, *self._variables(), *self._blanks()]

    def _target(self) -> list[Finding]:
        lost = int(self.without_target.sum())
        if not lost:
            return []
        lacking = [j for j in self.roles.response if self.found.columns[j].missing]
        name = listing([self.table.names[j] for j in lacking])
        rows = count_of(self.found.n_rows, "row")
        if lost == self.found.n_rows:
            raise TableError(f"{self.table.label}: {name} has no value in any of {rows}")
        have = "has" if lost == 1 else "have"
        text = f"{lost:,} of {rows} {have} no {name}: left out, {self.found.n_rows - lost:,} kept"
        return [Finding("target", text, {})]

    def _empty(self) -> list[Finding]:
        rows = self.found.n_rows
        empty = [j for j in self.roles.variables if self.found.columns[j].missing == rows]
        if not empty:
            return []
        text = f"no value at all in {self._names(empty)}"
        remedy = {"--exclude": tuple(self.table.names[j] for j in empty)}
        return [Finding("missing values", text, remedy, blocks=True)]

    def _single(self) -> list[Finding]:
        """Refuse gaps in weights, offset and groups, which nothing can be put in for."""
        others = [j for j in self.roles.single if j not in self.roles.response]
        gaps = [j for j in others if self.found.columns[j].missing]
        if not gaps or self.missing in DROPPING:
            return []
        text = f"missing values of {self._counted(gaps)}: nothing can be put in for these"
        return [Finding("missing values", text, {"--missing": ("drop",)}, blocks=True)]

    def _with_gaps(self, words: bool) -> list[int]:
        """Return variables of words, or all others, with gaps, those with the most first."""
        columns, rows = self.found.columns, self.found.n_rows
        kind = [j for j in self.roles.variables if (columns[j].kind == "word") == words]
        some = [j for j in kind if columns[j].missing < rows and self._count(j)]
        return self._emptiest(some)

    def _variables(self) -> list[Finding]:
        gaps = self._with_gaps(words=False)
        if not gaps:
            return []
        if self.missing != "error":
            how = "filled in by the column's mean"
            if self.missing == "impute":
                how = "imputed several times over from the other columns"
            cells = count_of(sum(map(self._count, gaps)), "missing value")
            return [Finding("missing values", f"{cells} {how}: {self._counted(gaps)}", {})]
        incomplete = int((self.found.incomplete(gaps) & self.kept).sum())
        text = (
            f"{count_of(len(gaps), 'variable')} with missing values, in {incomplete:,} of "
            f"{count_of(int(self.kept.sum()), 'row')}: {self._counted(gaps)}"
        )
        if not self._few_incomplete():
            left = int((self.kept & ~self.found.incomplete(self.roles.used)).sum())
            also = ", blank words too," if self._with_gaps(words=True) else ""
            text += f"; dropping rows with any missing value{also} keeps {left:,}{self._costs()}"
        return [Finding("missing values", text, self._remedy(), blocks=True)]

    def _dropped(self) -> list[Finding]:
        kept, asked = int(self.kept.sum()), int((~self.without_target).sum())
        if kept == asked:
            return []
        if kept == 0 or (self.missing == "drop" and kept < (1 - _MOST) * asked):
            text = f"dropping rows with missing values keeps {kept:,} of {asked:,}{self._costs()}"
            return [Finding("missing values", text, self._remedy(), blocks=True)]
        gaps = self._emptiest([j for j in self.roles.used if self._count(j)])
        were = "was" if asked - kept == 1 else "were"
        text = (
            f"{count_of(asked - kept, 'row')} with missing values {were} dropped, {kept:,} kept: "
            f"{self._counted(gaps)}"
        )
        return [Finding("missing values", text, {})]

    def _costs(self) -> str:
        """Say which columns would have to go for most rows to stay."""
        base = ~self.without_target
        used = self._emptiest([j for j in self.roles.used if self._count(j)])
        out = [j for j in used if j not in self.roles.single]
        gaps = np.zeros(self.found.n_rows, dtype=np.intp)
        for j in used:
            gaps[self.found.columns[j].missing_rows] += 1
        before = int((base & (gaps == 0)).sum())
        for k, j in enumerate(out, 1):
            gaps[self.found.columns[j].missing_rows] -= 1
            kept = int((base & (gaps == 0)).sum())
            if kept >= _ENOUGH * base.sum() or k == len(out):
                if kept <= before:
                    return ""
                emptiest = f", the {k} emptiest columns," if k > 1 else ""
                return f"; leaving out {self._counted(out[:k])}{emptiest} keeps {kept:,}"
        return ""

    def _remedy(self) -> dict[str, tuple[str, ...]]:
        """Return the gentlest way to go on: drop a few rows, leave out empty columns, or impute."""
        columns, gaps = self.found.columns, self._with_gaps(words=False)
        if self._few_incomplete():
            return {"--missing": ("drop",)}
        others = (j for j in self.roles.single if j not in self.roles.response)
        if any(columns[j].missing for j in others):
            return {"--missing": ("drop-most",)}
        rows = int((~self.without_target).sum())
        empty = [j for j in gaps if self._count(j) > _EMPTY * rows]
        remedy = {"--exclude": tuple(self.table.names[j] for j in empty)} if empty else {}
        # Where rows were to be dropped for the sake of blank words alone, these can be a level.
        return remedy | (self.way() if len(gaps) > len(empty) else {"--missing": ("error",)})

    def way(self) -> dict[str, tuple[str, ...]]:
        """Return what to do about missing values: impute them, unless few rows have such."""
        if self._few_incomplete():
            return {"--missing": ("drop",)}
        used = len(self.roles.used)
        large = self.found.n_rows * used > _MOST_IMPUTED or used > _MOST_COLUMNS
        return {"--missing": ("mean" if large or not self.imputes else "impute",)}

    def _few_incomplete(self) -> bool:
        base = ~self.without_target
        kept = int((base & ~self.found.incomplete(self.roles.used)).sum())
        return kept >= (1 - _FEW) * int(base.sum())

    def _blanks(self) -> list[Finding]:
        some = self._with_gaps(words=True)
        if not some:
            return []
        text = f"blank cells among the words of {self._counted(some)} are a level, {BLANK!r}"
        return [Finding("missing values", text, {})]

    def _count(self, j: int) -> int:
        """Return how many values are missing in rows that have a target."""
        return self._counts[j]

    @cached_property
    def _counts(self) -> dict[int, int]:
        known = ~self.without_target
        columns = self.found.columns
        return {j: int(known[columns[j].missing_rows].sum()) for j in self.roles.used}

    def _emptiest(self, columns: Sequence[int]) -> list[int]:
        """Return columns with those first that have the most gaps."""
        return sorted(columns, key=lambda j: -self._count(j))

    def _names(self, columns: Sequence[int]) -> str:
        return named(columns, lambda j: listing([self.table.names[j]]))

    def _counted(self, columns: Sequence[int]) -> str:
        return named(columns, lambda j: f"{listing([self.table.names[j]])} ({self._count(j):,})")


def refuse_gaps(table: TableFile, found: Survey, remedy: str) -> None:
    """Refuse any missing number or date; blank words are looked at elsewhere."""
    gaps = [j for j, facts in found.columns.items() if facts.missing and facts.kind != "word"]
    if gaps:
        gaps.sort(key=lambda j: -found.columns[j].missing)
        counts = named(
            gaps, lambda j: f"{listing([table.names[j]])} ({found.columns[j].missing:,})"
        )
        what = f"{count_of(len(gaps), 'column')} with missing values"
        raise TableError(
            f"{table.label}: {what} in {count_of(found.n_rows, 'row')}: {counts}; {remedy}"
        )
