"""``garrote select geno.bed``: choose variants that explain a trait, from genotypes where they lie."""

import argparse
import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garrote.cli.errors import DONE, NOT_CONVERGED, CommandError, UsageError
from garrote.cli.results import check_results, limit_threads, say_heard, write_results
from garrote.cli.settings import (
    asks_for_labels,
    check_settings,
    find_method,
    make_settings,
    method_for_table,
    method_name,
)
from garrote.cli.values import names, shares

# Those of `garrote.designs.genotypes`, which is imported where a file has one of them: others wait less.
SUFFIXES = (".bed", ".pgen", ".bgen")

# What speaks of the columns of a table, and files of models, which predict from tables.
_OF_TABLES = ("include", "exclude", "weights", "groups", "offset", "encode", "categories", "na",
              "levels", "interactions", "curves", "formula", "sheet", "save", "n", "control",
              "fdr")  # fmt: skip


@dataclass(frozen=True)
class _Data:
    """Genotypes with covariates beside them, a trait, and what to say of both."""

    design: Any
    placed: Any
    y: Any
    covariates: tuple[int, ...]
    labels: bool
    notes: tuple[str, ...]
    source: str


def add_genotypes(command: argparse.ArgumentParser) -> None:
    """Add what speaks of genotypes to the grammar of `garrote select`."""
    genotypes = command.add_argument_group("genotypes (.bed, .pgen, .bgen) in place of a table")
    genotypes.add_argument(
        "--pheno", metavar="FILE", help="table of people: IID (and FID), traits and covariates"
    )
    genotypes.add_argument("--trait", metavar="COLUMN", help="what is to be explained")
    genotypes.add_argument(
        "--region", type=names, action="extend", default=[], metavar="C:A-B",
        help="chromosomes, or parts of them as 6:25000000-34000000",
    )  # fmt: skip
    genotypes.add_argument(
        "--keep", metavar="FILE", help="people to keep: IID, or FID IID, a line each"
    )
    genotypes.add_argument(
        "--maf",
        type=shares,
        metavar="F",
        help="leave out variants whose rarer allele is rarer than F",
    )


def is_genotypes(options: argparse.Namespace) -> bool:
    """Tell whether the file is of genotypes."""
    return options.file is not None and str(options.file).endswith(SUFFIXES)


def refuse_without(options: argparse.Namespace) -> None:
    """Refuse what speaks of genotypes beside a table."""
    for name in ("pheno", "trait", "region", "keep", "maf"):
        if getattr(options, name) not in (None, []):
            raise UsageError(
                f"--{name} goes with genotypes: a file geno.bed, .pgen or .bgen in place of a table",
                "select",
            )


def run(options: argparse.Namespace) -> int:
    """Check everything that can be checked, read, fit, print, write."""
    _check(options)
    limit_threads(options)
    by_default, options.method = options.method is None, method_name(options)
    method = find_method(options.method)
    check_settings(options, method)
    data = _read(options, method)
    if by_default:
        rows, columns = data.design.shape
        classes = 2 * data.labels
        options.method = method_for_table(options, options.method, rows, columns, classes)
        method = find_method(options.method)
    estimator = method.for_labels.load() if data.labels else method.load()
    settings = make_settings(options, estimator, data.labels)
    known = inspect.signature(estimator).parameters
    if options.cv is not None and "cv" not in known:
        raise UsageError(
            f"--cv: {options.method} chooses nothing by folds, and is not measured on rows of genotypes",
            "select",
        )
    if data.covariates:
        settings |= _always_in(data.covariates, settings, known)
    model = _fit(estimator, settings, data, options)
    write_results(model, options)
    return DONE if model.selection_.converged else NOT_CONVERGED


def _check(options: argparse.Namespace) -> None:
    if options.trait is None:
        options.trait = options.target
    missing = [f"--{name}" for name in ("pheno", "trait") if getattr(options, name) is None]
    if missing:
        raise UsageError(
            f"required beside genotypes: {', '.join(missing)} (--pheno FILE has a row for each person, "
            "--trait COLUMN names what is to be explained)",
            "select",
        )
    for name in _OF_TABLES:
        if getattr(options, name) not in (None, False, []):
            raise UsageError(f"--{name} does not go with genotypes", "select")
    if options.missing != "error":
        raise UsageError(
            "--missing does not go with genotypes: missing calls stand for the mean of their column; "
            "people without a trait or covariate are left out",
            "select",
        )
    inputs = [name for name in (options.pheno, options.keep) if name is not None]
    check_results(options, [*_files(options.file), *inputs])


def _files(pattern: str) -> list[str]:
    """Return the files that a name stands for: itself, or those of a pattern with *, 2 before 10."""
    if "*" not in pattern:
        return [pattern]
    import re

    parent, name = Path(pattern).parent, Path(pattern).name
    found = [str(path) for path in parent.glob(name)]
    if not found:
        raise CommandError(f"no file is called like {pattern}")
    return sorted(found, key=lambda path: [
        (int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path)
    ])  # fmt: skip


def _read(options: argparse.Namespace, method: Any) -> _Data:
    import numpy as np

    from garrote.cli import console
    from garrote.designs import DenseDesign, JoinedDesign
    from garrote.designs.genotypes import open_genotypes
    from garrote.results.selections.locus import Placed
    from garrote.tables.genetics.phenotypes import read_people, read_phenotypes

    files = _files(options.file)
    with console.waiting(f"reading {options.file} and {options.pheno}"):
        keep = None if options.keep is None else read_people(options.keep)
        region = options.region or None
        everybody = open_genotypes(files, pack=False, keep=keep, region=region)
        label = everybody.people_file
        label += "" if keep is None else f" and {Path(options.keep).name}"
        pairs = list(zip(everybody.people.family, everybody.people.individual, strict=True))
        found = read_phenotypes(options.pheno, options.trait, options.covariates, pairs, label)
        kept = [pairs[row] for row in found.rows]
        genotypes = open_genotypes(
            files, keep=kept, region=region, min_frequency=options.maf or 0.0
        )
    notes = [*found.notes]
    count, rare = genotypes.shape[1], everybody.shape[1] - genotypes.shape[1]
    if rare:
        notes.append(f"{rare:,} of {everybody.shape[1]:,} variants are rarer than {options.maf:g}")
    gaps = genotypes.missing
    if gaps.any():
        share = gaps.sum() / (genotypes.shape[0] * count)
        notes.append(
            f"{100 * share:.2g} % of the calls are missing, and stand for the mean of their column"
        )
    empty = int((gaps == genotypes.shape[0]).sum())
    if empty:
        notes.append(f"of {empty:,} variants all calls are missing: they cannot be selected")
    y, labels = _trait(found.trait, options, method)
    design: Any = genotypes
    if found.names:
        beside = DenseDesign(np.asfortranarray(found.covariates))
        beside.names = found.names  # type: ignore[attr-defined]
        design = JoinedDesign([genotypes, beside])
    covariates = tuple(range(count, count + len(found.names)))
    placed = Placed.of(genotypes.variants, len(found.names))
    return _Data(design, placed, y, covariates, labels, tuple(notes), Path(options.file).name)


def _trait(y: Any, options: argparse.Namespace, method: Any) -> tuple[Any, bool]:
    """Return the trait, and whether it is labels: 0 and 1 or, as PLINK has it, 1 and 2."""
    values = set(y.tolist())
    two = values in ({0.0, 1.0}, {1.0, 2.0})
    family = options.family or dict(options.set).get("family")
    labels = asks_for_labels(options, method) or (two and family is None)
    if not labels:
        return y, False
    if method.for_labels is None or not two:
        raise CommandError(
            f"{options.pheno}: {options.trait} has {len(values)} values, and --method {options.method} "
            "takes labels 0 and 1, or 1 and 2, if any: give --family gaussian for numbers"
        )
    return y.astype("int64"), True


def _always_in(columns: tuple[int, ...], settings: dict[str, Any], known: Any) -> dict[str, Any]:
    """Return the setting that keeps covariates in the model."""
    if "covariates" in known:
        return {"covariates": list(columns)}
    if "penalty_factor" in settings:
        raise UsageError(
            "--covariates and --set penalty_factor say the same thing: give one", "select"
        )
    return {"penalty_factor": dict.fromkeys(columns, 0.0)}


def _fit(estimator: Any, settings: dict[str, Any], data: _Data, options: argparse.Namespace) -> Any:
    """Return the fitted model; its selection tells also of the files and of the command."""
    from garrote.cli import console

    if not options.quiet and options.json != "-":
        rows, columns = data.design.shape
        console.say(
            f"{data.source}: {rows:,} people, {columns - len(data.covariates):,} variants, trait "
            f"{options.trait}" + (f", {len(data.covariates)} covariates" if data.covariates else "")
        )
        for text in data.notes:
            console.say(f"  {text}")
    with console.warnings_kept(options.quiet) as heard, console.progress() as callback:
        if "callback" in inspect.signature(estimator).parameters:
            settings["callback"] = None if options.quiet else callback
        model = estimator(**settings).fit(data.design, data.y)
    found = model.selection_
    model.selection_ = found.at_variants(data.placed).annotated(
        data.notes,
        {"source": data.source, "command": options.words},
        response=options.trait + found.response.removeprefix("y"),
    )
    say_heard(heard, model.selection_)
    return model
