"""Five-fold cross-validation with the final path on all data, against one path alone."""

from dataclasses import replace

from processes import Contender, say, take_turns
from sections.path import write_problem
from tables import Table, spread

CONTENDERS = (
    Contender("garrote, tol 1e-2", "garrote", {"tol": 1e-2}),
    Contender("glmnet, thresh 1e-7", "glmnet", {"thresh": 1e-7}),
    Contender("adelie, tol 1e-7", "adelie", {"tol": 1e-7}),
    Contender("abess, 0 to 40 features", "abess", {"largest": 40}),
    Contender("scikit-learn, tol 1e-4", "scikit_learn", {"tol": 1e-4}),
)
NOTE = (
    "Folds are drawn by each library itself. Five folds of 4/5 of the rows and the final path cost "
    "about 5 paths where nothing is shared. Selected and F1: of the model that cv chose."
)


def run(settings):
    tables, results = [], {}
    for size in settings.sizes:
        folder, (N, D) = write_problem(settings, size)
        say(f"cv, {size} ({N}, {D})")
        wanted = [c for c in CONTENDERS if c.library in ("garrote", *settings.rivals)]
        paths = take_turns(settings, wanted, "path", folder)
        crossed = [replace(c, options=c.options | {"folds": 5}) for c in wanted]
        results[size] = {"path": paths, "cv": take_turns(settings, crossed, "cv", folder)}
        tables.append(tabulate(f"Cross-validation, {size}: N = {N}, D = {D}", results[size]))
    tables[0].note = NOTE
    return tables, results


def tabulate(title, results):
    headings = ["library", "cv + path, s", "one path, s", "ratio", "selected", "F1"]
    table = Table(title, headings)
    for label, cv in results["cv"].items():
        path = results["path"][label]
        if "skipped" in cv or "skipped" in path:
            table.add(label, cv.get("skipped") or path["skipped"], None, None, None, None)
            continue
        ratio = cv["seconds"] / path["seconds"]
        row = spread(cv["all_seconds"]), path["seconds"], ratio, cv["selected"], cv["f1"]
        table.add(label, *row)
    return table
