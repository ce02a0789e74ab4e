"""The lasso by everybody: equal lambdas, certificates recomputed from the data, tight and as usual."""

import problems
from processes import Contender, say, take_turns
from sections.path import write_problem
from tables import Table, spread

OURS = "garrote_lasso"
# Each library at the tolerance that brings its worst gap to some 1e-5, then as it comes.
TIGHT = (
    Contender("garrote, gap 1e-6", OURS, {"tol": 1e-6}),
    Contender("glmnet, thresh 1e-12", "glmnet", {"thresh": 1e-12}),
    Contender("adelie, tol 1e-12", "adelie", {"tol": 1e-12}),
    Contender("celer, tol 1e-6", "celer", {"tol": 1e-6}),
    Contender("scikit-learn, tol 5e-6", "scikit_learn", {"tol": 5e-6}, reps=1),
)
USUAL = (
    Contender("garrote, gap 1e-3", OURS, {"tol": 1e-3}),
    Contender("glmnet, thresh 1e-7", "glmnet", {"thresh": 1e-7}),
    Contender("adelie, tol 1e-7", "adelie", {"tol": 1e-7}),
)
COLD = (Contender("garrote, gap 1e-6, nothing compiled", OURS, {"tol": 1e-6}, True, 1),)
GRAM = (Contender("adelie, Gram matrix, tol 1e-12", "adelie", {"tol": 1e-12, "covariance": True}),)
VALIDATED = (
    Contender("garrote, gap 1e-6", OURS, {"tol": 1e-6, "folds": 10}),
    Contender("glmnet, thresh 1e-7", "glmnet", {"thresh": 1e-7, "folds": 10}),
    Contender("adelie, tol 1e-7", "adelie", {"tol": 1e-7, "folds": 10}),
)
LABELS = (
    Contender("garrote, gap 1e-6", OURS, {"tol": 1e-6}),
    Contender("garrote, gap 1e-3", OURS, {"tol": 1e-3}),
    Contender("glmnet, thresh 1e-7", "glmnet", {"thresh": 1e-7}),
    Contender("glmnet, thresh 1e-10", "glmnet", {"thresh": 1e-10}),
)
KNOTS = (
    Contender("garrote, all knots certified", OURS),
    Contender("scikit-learn, lars_path", "scikit_learn"),
)
GROUPS = (
    Contender("garrote, gap 1e-5", OURS, {"tol": 1e-5, "size": 64}),
    Contender("adelie, tol 1e-12", "adelie", {"tol": 1e-12, "size": 64}),
    Contender("garrote, gap 2e-3", OURS, {"tol": 2e-3, "size": 64}),
    Contender("adelie, tol 1e-7", "adelie", {"tol": 1e-7, "size": 64}),
)
GROUPS_SHAPE, QUICK_GROUPS_SHAPE = (1000, 64), (200, 20)
KNOTS_SHAPE, QUICK_KNOTS_SHAPE = (1000, 1000), (200, 200)
NOTE = (
    "Seconds: fastest .. slowest repetition. Gap: the largest over the path, over the objective of the "
    "empty model, recomputed outside of the library."
)


def run(settings):
    tables, results = [], {}
    for size in settings.sizes:
        folder, (N, D) = write_problem(settings, size)
        more = GRAM if size == "tall" else ()
        rows = TIGHT + more + USUAL + COLD
        add(
            settings, tables, results, f"Lasso path, {size}: N = {N}, D = {D}", rows, "path", folder
        )
        if size == "wide":
            title = f"Ten folds and the path, {size}: N = {N}, D = {D}"
            add(settings, tables, results, title, VALIDATED, "cv", folder)
            title = f"Logistic lasso path, {size}: N = {N}, D = {D}"
            labelled = problems.labelled(problems.load(folder))
            folder = problems.save(labelled, settings.scratch / "labels")
            add(settings, tables, results, title, LABELS, "labels", folder)
    N, D = QUICK_KNOTS_SHAPE if settings.quick else KNOTS_SHAPE
    folder = problems.save(problems.dense(N, D, settings.seed), settings.scratch / "knots")
    add(settings, tables, results, f"LARS: N = {N}, D = {D}", KNOTS, "knots", folder)
    N, count = QUICK_GROUPS_SHAPE if settings.quick else GROUPS_SHAPE
    problem = problems.grouped(N, count, 64, settings.seed)
    folder = problems.save(problem, settings.scratch / "groups")
    title = f"Group lasso path: N = {N}, {count} groups of 64"
    add(settings, tables, results, title, GROUPS, "groups", folder)
    tables[0].note = NOTE
    return tables, results


def add(settings, tables, results, title, contenders, task, folder):
    """Measure some contenders, and tabulate them against the first."""
    say(f"lasso: {title}")
    wanted = [c for c in contenders if c.library in (OURS, *settings.rivals)]
    results[title] = take_turns(settings, wanted, task, folder)
    headings = ["library", "seconds", "over garrote's first", "points", "gap", "selected", "F1"]
    table, base = Table(title, headings), results[title][wanted[0].label].get("seconds")
    for label, result in results[title].items():
        if "skipped" in result:
            table.add(label, result["skipped"], *[None] * 5)
            continue
        gap = f"{result['gap']:.1e}" if "gap" in result else None
        ratio = result["seconds"] / base if base else None
        first = label, spread(result["all_seconds"]), ratio, result.get("points"), gap
        table.add(*first, result["selected"], result["f1"])
    tables.append(table)
