"""What is asked of a table in terms: read before the table is, so that a slip costs nothing."""

from dataclasses import replace
from fnmatch import fnmatchcase

from garrote.summaries import listing
from garrote.tables.errors import TableError, unknown_name
from garrote.tables.formats.base import TableFile
from garrote.tables.roles import Wanted
from garrote.tables.terms.expanding import Asked
from garrote.tables.terms.formula import read_formula


def what_is_asked(table: TableFile, wanted: Wanted) -> tuple[Asked | None, Wanted]:
    """Return the terms that are asked for, None if none are, and what to read for them."""
    if wanted.formula is None and wanted.interactions is None and wanted.curves is None:
        return None, wanted
    for option, some in (("--interactions", wanted.interactions), ("--curves", wanted.curves)):
        for name in some or ():
            if name not in table.names:
                raise unknown_name(table, option, name)
    if wanted.formula is None:
        return Asked(None, wanted.interactions, wanted.curves), wanted
    return _by_formula(table, wanted)


def _by_formula(table: TableFile, wanted: Wanted) -> tuple[Asked, Wanted]:
    """Return a formula, and the columns that it names as those to read."""
    if wanted.include is not None:
        raise TableError(
            "--include and --formula both say which columns are used: give one of them"
        )
    excluded = {n for n in table.names if any(fnmatchcase(n, text) for text in wanted.exclude)}
    single = {wanted.target, wanted.weights, wanted.groups, wanted.offset, *excluded}
    free = [table.names[j] for j in table.ordinary if table.names[j] not in single]
    formula = read_formula(str(wanted.formula), free)
    if formula.response is not None and formula.response != wanted.target:
        raise TableError(
            f"--formula explains {listing([formula.response])} and --target is "
            f"{listing([wanted.target])}: leave one of them out"
        )
    for name in formula.columns:
        if name not in table.names:
            raise unknown_name(table, "--formula", name)
        if name in single:
            raise TableError(
                f"--formula: {listing([name])} is the target, the weights, the offset, the groups or "
                "excluded: it cannot be a variable too"
            )
    categories = (*wanted.categories, *formula.categories)
    asked = Asked(formula, wanted.interactions, wanted.curves)
    return asked, replace(wanted, include=formula.columns, categories=categories, exclude=())
