"""Which column plays which part: target, variables, covariates, weights, offset, groups."""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass

from garrote.summaries import listing
from garrote.tables.check.times import split_event
from garrote.tables.errors import TableError, unknown_name
from garrote.tables.formats.base import TableFile

MISSING_RULES = ("error", "drop", "drop-most", "mean", "impute")
DROPPING = ("drop", "drop-most")
"""Rules by which rows with missing values are left out, the second of them however many these are."""


@dataclass(frozen=True)
class Wanted:
    """What is asked of a table.

    Parameters
    ----------
    target : str or None
        The response; None when there is none.
    include : tuple of str, optional
        The variables: names, or patterns such as "gene_*". By default all columns without another part.
    exclude : tuple of str
        Columns to leave out: names or patterns.
    covariates : tuple of str
        Variables that are always in the model: names or patterns. They need not be in `include` too.
    weights : str, optional
        Column of row weights, none of them negative. Not a variable.
    groups : str, optional
        Column that says which rows must stay together in cross-validation. Not a variable.
    offset : str, optional
        Column of a known part of the linear predictor. Not a variable.
    event, start, strata : str, optional
        Columns that make the target times until an event: whether it came ("column" of 0 and 1, or
        "column:value"), when rows came under observation, and their strata. Not variables.
    encode : bool
        Whether columns of words are one-hot coded, and dates expanded; otherwise they are refused.
    missing : {"error", "drop", "drop-most", "mean", "impute"}
        Missing numbers and dates are refused; or their rows left out, if that leaves half of them
        ("drop") or any ("drop-most"); or a variable's mean is put in; or they stay missing, to be
        imputed. Rows without a target are always left out. Blank cells among words are a level of their
        own, unless rows are left out. Nothing is put in for weights, offset or groups.
    categories : tuple of str
        Columns that are words whatever they hold, and are one-hot coded: names or patterns. The
        target may be among them, by name: then it is labels of classes.
    na : tuple of str
        Texts that mean "no value", beside the usual ones; ``column:text`` in that column alone.
    labels : bool
        Whether the target may hold words, or true and false, which are then the labels of classes.
    family : str, optional
        What the target is, if that was said or cannot be: then it is not asked.
    imputes : bool
        Whether what is to be fitted can make use of imputations.
    formula : str, optional
        The terms of the model, as in R: "y ~ a*b + C(site) + bs(x, 4)"; it says which columns are used.
    interactions, curves : tuple of str, optional
        Columns of which all pairs are variables too, and numbers whose effect may be a curve; () stands
        for all that can be.
    sheet : str, optional
        Name or number of the sheet of a workbook; by default the first.
    max_memory : float, optional
        Bytes that a table may fill as numbers: a larger Parquet or Arrow file is read in blocks. By
        default half of the memory that is free.
    """

    target: str | None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    weights: str | None = None
    groups: str | None = None
    offset: str | None = None
    encode: bool = False
    missing: str = "error"
    labels: bool = False
    categories: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    family: str | None = None
    imputes: bool = True
    formula: str | None = None
    interactions: tuple[str, ...] | None = None
    curves: tuple[str, ...] | None = None
    sheet: str | None = None
    max_memory: float | None = None
    event: str | None = None
    start: str | None = None
    strata: str | None = None


@dataclass(frozen=True)
class Roles:
    """Positions of the columns that play a part."""

    variables: tuple[int, ...]
    covariates: frozenset[int]
    target: int | None
    weights: int | None
    groups: int | None
    offset: int | None = None
    categories: frozenset[int] = frozenset()
    event: int | None = None
    start: int | None = None
    strata: int | None = None

    @property
    def response(self) -> tuple[int, ...]:
        """Those without which a row has no response."""
        return tuple(j for j in (self.target, self.event, self.start) if j is not None)

    @property
    def words(self) -> tuple[int, ...]:
        """Those that are words, whatever they hold."""
        return tuple(j for j in (self.groups, self.event, self.strata) if j is not None)

    @property
    def used(self) -> tuple[int, ...]:
        """All of them, in the order of the table."""
        return tuple(sorted([*self.variables, *self.single]))

    @property
    def single(self) -> tuple[int, ...]:
        """Those that are no variables."""
        parts = (
            self.target, self.weights, self.groups, self.offset, self.event, self.start, self.strata
        )  # fmt: skip
        return tuple(j for j in parts if j is not None)


def assign_roles(table: TableFile, wanted: Wanted) -> Roles:
    """Find the columns that are asked for."""
    if wanted.missing not in MISSING_RULES:
        raise TableError(
            f"--missing must be {listing(MISSING_RULES, str)}, got {listing([wanted.missing])}"
        )
    single = {
        role: _position(table, role, name)
        for role, name in [
            ("--target" if wanted.event is None else "--time", wanted.target),
            ("--weights", wanted.weights),
            ("--groups", wanted.groups),
            ("--offset", wanted.offset),
            ("--event", wanted.event and split_event(table, wanted.event)[0]),
            ("--start", wanted.start),
            ("--strata", wanted.strata),
        ]
        if name is not None
    }
    _refuse_two_roles(table, single)
    taken = frozenset(single.values())
    covariates = _matching(table, "--covariates", wanted.covariates, taken)
    excluded = _matching(table, "--exclude", wanted.exclude, frozenset())
    if both := covariates & excluded:
        names = listing(table.names[j] for j in sorted(both))
        raise TableError(f"{names} cannot be in --covariates and in --exclude: leave it out of one")
    if wanted.include is None:
        included = frozenset(table.ordinary)
    else:
        included = _matching(table, "--include", wanted.include, taken)
    variables = tuple(sorted((included | covariates) - excluded - taken))
    if not variables:
        raise TableError(
            f"{table.label}: no column is left as a variable: check --include and --exclude"
            if wanted.include or wanted.exclude
            else f"{table.label} has no column that could be a variable: it has {listing(table.names)}"
        )
    return Roles(
        variables,
        covariates,
        single.get("--target", single.get("--time")),
        single.get("--weights"),
        single.get("--groups"),
        single.get("--offset"),
        _categories(table, wanted, taken) & {*variables, single.get("--target")},
        single.get("--event"),
        single.get("--start"),
        single.get("--strata"),
    )


def _categories(table: TableFile, wanted: Wanted, taken: frozenset[int]) -> frozenset[int]:
    """Return the columns that are words whatever they hold; patterns pass over the target."""
    by_name = {wanted.target} & {*wanted.categories}
    others = tuple(text for text in wanted.categories if text not in by_name)
    of_target = {_position(table, "--target", name) for name in by_name if name is not None}
    return _matching(table, "--categories", others, taken) | of_target


def _position(table: TableFile, role: str, name: str) -> int:
    if name not in table.names:
        raise unknown_name(table, role, name)
    return table.names.index(name)


def _refuse_two_roles(table: TableFile, single: dict[str, int]) -> None:
    owner: dict[int, str] = {}
    for role, j in single.items():
        if j in owner:
            raise TableError(
                f"column {listing([table.names[j]])} cannot be {owner[j]} and {role} at once: "
                "name two columns"
            )
        owner[j] = role


def _matching(
    table: TableFile, option: str, wanted: Sequence[str], taken: frozenset[int]
) -> frozenset[int]:
    """Return the columns with the wanted names, or that match the wanted patterns.

    A pattern passes over columns with a part of their own, whose name is refused, and over those that
    are no variables by themselves.
    """
    position = {name: j for j, name in enumerate(table.names)}
    found: set[int] = set()
    for text in wanted:
        if text in position:
            if position[text] in taken:
                raise TableError(
                    f"column {listing([text])} is the target, or has another part: "
                    f"take it out of {option}"
                )
            found.add(position[text])
        else:
            some = {j for j in table.ordinary if fnmatch.fnmatchcase(table.names[j], text)}
            if not some:
                raise unknown_name(table, option, text)
            found |= some - taken
    return frozenset(found)
