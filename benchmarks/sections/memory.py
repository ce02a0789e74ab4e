"""Memory a path needs above the data it was given, in units of the design's own bytes."""

import shutil
from dataclasses import replace

import numpy as np

import problems
from processes import Contender, say, take_turns
from sections.path import write_problem
from tables import Table

OURS = Contender("garrote", "garrote", {"tol": 1e-2})
RIVALS = (
    Contender("glmnet", "glmnet"),
    Contender("adelie", "adelie"),
    Contender("scikit-learn", "scikit_learn"),
    Contender("celer", "celer"),
    Contender("abess", "abess", {"largest": 40}),
)
HEADINGS = ["library", "type", "order", "designs", "MiB"]
NOTE = (
    "Peak resident memory of the process during a path, less that before it, in bytes of the "
    "design. 0 is no copy."
)


def run(settings):
    tables, results = [], {}
    once = replace(settings, reps=1)
    rivals = [rival for rival in RIVALS if rival.library in settings.rivals]
    for size in settings.sizes:
        folder, (N, D) = write_problem(settings, size)
        say(f"memory, {size} ({N}, {D})")
        table, results[size] = Table(f"Memory, {size}: N = {N}, D = {D}", HEADINGS), {}
        for dtype, order in layouts(size):
            usual = order == "CSC" or (dtype, order) == ("float64", "F")
            place = folder if usual else write_layout(settings, N, D, dtype, order)
            found = take_turns(once, [OURS, *rivals] if usual else [OURS], "path", place)
            if not usual:
                shutil.rmtree(place)
            results[size][f"{dtype} {order}"] = found
            for label, result in found.items():
                table.add(label, dtype, order, *amounts(result))
        tables.append(table)
    tables[0].note = NOTE
    return tables, results


def layouts(size):
    if size == "sparse":
        return [("float64", "CSC")]
    return [(dtype, order) for dtype in ("float64", "float32") for order in ("F", "C")]


def write_layout(settings, N, D, dtype, order):
    problem = problems.dense(N, D, settings.seed, dtype=np.dtype(dtype), order=order)
    return problems.save(problem, settings.scratch / f"{dtype}-{order}")


def amounts(result):
    if "skipped" in result:
        return result["skipped"], None
    if result["memory"] is None:
        return "only on Linux", None
    return f"{result['memory'] / result['design_bytes']:.2f}", result["memory"] / 2**20
