"""``garrote select --zscores``: choose variables from z-scores, an LD matrix and n, without any rows."""

import argparse
import inspect
from pathlib import Path
from typing import Any, NamedTuple

from garrote.cli.commands.genotypes import SUFFIXES
from garrote.cli.errors import DONE, NOT_CONVERGED, CommandError, UsageError
from garrote.cli.results import check_results, limit_threads, say_heard, write_results
from garrote.cli.settings import (
    check_settings,
    find_method,
    make_settings,
    method_for_table,
    method_name,
)

# What speaks of the rows or columns of a table.
_OF_TABLES = ("file", "include", "exclude", "covariates", "weights", "groups", "offset", "encode",
              "categories", "na", "cv", "stability", "save", "levels", "interactions", "curves",
              "formula", "sheet", "control", "fdr", "pheno", "trait", "keep", "maf")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, read, fit, print, write."""
    _check(options)
    limit_threads(options)
    by_default, options.method = options.method is None, method_name(options)
    method = find_method(options.method)
    check_settings(options, method)
    estimator = method.load()
    if not hasattr(estimator, "fit_zscores"):
        raise UsageError(
            f"--zscores: {options.method} needs rows; add --method spike-slab", "select"
        )
    data = _read(options)
    if by_default:
        options.method = method_for_table(options, options.method, 0, len(data.z))
        estimator = find_method(options.method).load()
    settings = make_settings(options, estimator, labels=False)
    for of_rows in ("cv", "stability"):
        settings.pop(of_rows, None)
    model = _fit(estimator(**settings), data, options)
    write_results(model, options)
    return DONE if model.selection_.converged else NOT_CONVERGED


def _check(options: argparse.Namespace) -> None:
    for name in ("zscores", "ld"):
        if getattr(options, name) is None:
            raise UsageError(
                f"--{name} is missing: z-scores need --zscores FILE, --ld FILE and --n", "select"
            )
    for name in _OF_TABLES:
        if getattr(options, name) not in (None, False, []):
            given = f"--{name}" if name != "file" else f"the table {options.file}"
            raise UsageError(f"{given} does not go with --zscores, which has no rows", "select")
    check_results(options, [options.zscores, options.ld])


class _Data(NamedTuple):
    """What both files say, for the same variables in the same order."""

    z: Any
    ld: Any
    names: Any
    n: float
    notes: tuple[str, ...]
    positions: Any = None
    placed: Any = None


def _read(options: argparse.Namespace) -> _Data:
    """Read both files; where both have names, these decide what belongs together."""
    if _is_panel(options.ld):
        return _read_panel(options)
    if options.region:
        raise UsageError(
            "--region goes with genotypes: give --ld a .bed, .pgen or .bgen file", "select"
        )
    from garrote.cli import console
    from garrote.tables.zscores import read_ld, read_zscores
    from garrote.zscores.given import match_names

    with console.waiting(f"reading {options.zscores} and {options.ld}"):
        z, ld = read_zscores(options.zscores), read_ld(options.ld)
    n, notes = _samples(z, options)
    if ld.values.ndim != 2 or ld.values.shape[0] != ld.values.shape[1]:
        raise CommandError(f"{options.ld} is no square matrix: it has shape {ld.values.shape}")
    if z.names is None or ld.names is None:
        if z.names is None and ld.names is not None:
            notes.append(
                f"{Path(options.zscores).name} has no column of names, such as SNP or rsid: its rows "
                "count as the variables of LD in their order"
            )
        return _Data(z.values, ld.values, z.names or ld.names, n, tuple(notes), z.positions)
    if not set(z.names) & set(ld.names) and z.named_by:
        raise CommandError(
            f"the files have no name in common: {options.zscores} has {z.names[0]!r} in its column "
            f"{z.named_by!r}, {options.ld} has {ld.names[0]!r}; name the column of names SNP, or "
            "make both have the same names"
        )
    values, matrix, names, told = match_names(z.values, z.names, ld.values, ld.names)
    positions = None
    if z.positions is not None:
        known = dict(zip(z.names, z.positions, strict=True))
        positions = [known[name] for name in names]
    return _Data(values, matrix, names, n, (*notes, *told), positions)


def _is_panel(ld: str) -> bool:
    """Tell whether the alleles of LD are known: of genotypes, or by a .bim of the same name."""
    return ld.endswith(SUFFIXES) or Path(ld).with_suffix(".bim").is_file()


def _read_panel(options: argparse.Namespace) -> _Data:
    """Read associations with alleles, and LD from a panel that says its own."""
    from garrote.cli import console
    from garrote.tables.genetics.associations import read_gwas

    with console.waiting(f"reading {options.zscores} and {options.ld}"):
        found = read_gwas(options.zscores, options.ld, options.region or None)
    n = found.n if options.n is None else options.n
    if n is None:
        raise UsageError(
            f"--n is missing, and {Path(options.zscores).name} has no column N: give the "
            "samples behind the z-scores",
            "select",
        )
    return _Data(found.z, found.ld, found.names, n, found.notes, placed=found.placed)


def _samples(z: Any, options: argparse.Namespace) -> tuple[float, list[str]]:
    """Return n, from the command or from a column that has one number for all, and what to say of it."""
    import numpy as np

    file = Path(options.zscores).name
    if z.samples is None:
        if options.n is None:
            raise UsageError(
                f"--n is missing, and {file} has no column N: give the samples behind the z-scores",
                "select",
            )
        return options.n, []
    known = z.samples[np.isfinite(z.samples)]
    same = len(known) == len(z.samples) and known.min() == known.max()
    if options.n is not None:
        if same and known[0] == options.n:
            return options.n, []
        told = f"{known.min():g} to {known.max():g}" if len(known) else "no numbers"
        told = f"{known[0]:g}" if same else told
        return options.n, [
            f"the number of samples is {options.n:g}, as given; the column {z.counted_by} has {told}"
        ]
    if same:
        return float(known[0]), [
            f"the number of samples, {known[0]:g}, is that of the column {z.counted_by}"
        ]
    if not len(known):
        raise UsageError(f"the column {z.counted_by} of {file} has no numbers: give --n", "select")
    raise UsageError(
        f"the column {z.counted_by} of {file} goes from {known.min():g} to {known.max():g}, with "
        f"{len(z.samples) - len(known)} missing, and one n is needed: give --n, such as the median, "
        f"{np.median(known):g}, and leave out variables that are far from it",
        "select",
    )


def _fit(model: Any, data: _Data, options: argparse.Namespace) -> Any:
    """Return the fitted model; its selection tells also of the files and of the command."""
    from garrote.cli import console

    if not options.quiet and options.json != "-":
        files = f"{Path(options.zscores).name} and {Path(options.ld).name}"
        console.say(f"{files}: z-scores of {len(data.z)} variables, n = {data.n:g}")
    with console.warnings_kept(options.quiet) as heard, console.progress() as callback:
        if "callback" in inspect.signature(type(model)).parameters:
            model.set_params(callback=None if options.quiet else callback)
        model.fit_zscores(data.z, data.ld, data.n, names=data.names, mismatch=options.mismatch)
    found = model.selection_
    if data.placed is not None:
        found = found.at_variants(data.placed)
    elif data.positions is not None:
        found = found.at_positions(data.positions)
    source = f"{Path(options.zscores).name}, {Path(options.ld).name}"
    model.selection_ = found.annotated(
        data.notes,
        {"source": source, "command": options.words},
        response=options.target or found.response,
    )
    say_heard(heard, model.selection_)
    return model
