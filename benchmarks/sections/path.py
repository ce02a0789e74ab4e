"""Whole paths: ours annealed and reheated over 50 gammas, the lassos' over 100 lambdas."""

import problems
from processes import Contender, say, take_turns
from tables import Table, spread

OURS = (
    Contender("garrote, tol 1e-2", "garrote", {"tol": 1e-2}),
    Contender("garrote, tol 1e-4", "garrote", {"tol": 1e-4}),
    Contender("garrote, tol 1e-2, corrected", "garrote", {"tol": 1e-2, "correct": True}),
    Contender("garrote, tol 1e-2, first fit, nothing compiled", "garrote", {"tol": 1e-2}, True, 1),
)
BASE = Contender("glmnet, thresh 1e-7", "glmnet", {"thresh": 1e-7})
RIVALS = (
    BASE,
    Contender("glmnet, thresh 1e-12", "glmnet", {"thresh": 1e-12}),
    Contender("adelie, tol 1e-7", "adelie", {"tol": 1e-7}),
    Contender("scikit-learn, tol 1e-4", "scikit_learn", {"tol": 1e-4}),
    Contender("celer, tol 1e-6", "celer", {"tol": 1e-6}),
    Contender("abess, 0 to 40 features, EBIC", "abess", {"largest": 40}),
)
GRAM = Contender("adelie, Gram matrix, tol 1e-7", "adelie", {"tol": 1e-7, "covariance": True})
SUSIE = Contender("susie, 20 effects", "susie", {"effects": 20}, reps=1)
NOTE = (
    "Seconds: fastest .. slowest repetition. Points: of the path. Certificate: duality gap over "
    "||y||^2/2N for lassos, largest violation of the stationarity equations for garrote (in "
    "brackets: what it claims). Selected and F1: of the chosen model; of the lassos, that of the "
    "lambda with the best F1. "
    "Corrected: with sums over models at the chosen gamma, as by default."
)


def run(settings):
    tables, results = [], {}
    for size in settings.sizes:
        folder, (N, D) = write_problem(settings, size)
        say(f"path, {size} ({N}, {D})")
        results[size] = take_turns(settings, contenders(settings, size), "path", folder)
        tables.append(tabulate(f"Path, {size}: N = {N}, D = {D}", results[size]))
    tables[0].note = NOTE
    return tables, results


def contenders(settings, size):
    rivals = RIVALS + ((GRAM,) if size == "tall" else ())
    if size != "sparse":  # susie centres, so that a sparse design of this size would become dense
        rivals += (SUSIE,)
    return [*OURS, *(rival for rival in rivals if rival.library in settings.rivals)]


def write_problem(settings, size):
    """Make the problem of a named size once a run; return its folder and shape."""
    shape = (problems.QUICK_SIZES if settings.quick else problems.SIZES)[size]
    folder = settings.scratch / size
    if not folder.exists():
        if size == "sparse":
            density = problems.QUICK_DENSITY if settings.quick else problems.DENSITY
            problems.save(problems.sparse_columns(*shape, settings.seed, density=density), folder)
        else:
            problems.save(problems.dense(*shape, settings.seed), folder)
    return folder, shape


def tabulate(title, results):
    headings = ["library", "seconds", "over glmnet", "points", "certificate", "selected", "F1"]
    table = Table(title, headings)
    base = results.get(BASE.label, {}).get("seconds")
    for label, result in results.items():
        if "skipped" in result:
            table.add(label, result["skipped"], *[None] * 5)
            continue
        ratio = result["seconds"] / base if base else None
        first = label, spread(result["all_seconds"]), ratio, result.get("points")
        table.add(*first, certificate(result), result["selected"], result["f1"])
    return table


def certificate(result):
    if "gap" in result:
        return f"{result['gap']:.1e}"
    if "violation" in result:
        return f"{result['violation']:.1e} ({result['claimed']:.1e})"
    return f"({result['claimed']:.1e})" if "claimed" in result else None
