"""Recovery where it is hard: 15 correlated features of 2000, 200 samples, a weak signal."""

import shutil
from dataclasses import replace

import numpy as np

import problems
from processes import Contender, say, take_turns
from tables import Table

SEEDS, QUICK_SEEDS = 20, 2
CONTENDERS = (
    ("garrote, gamma by 5-fold cv", "cv", Contender("garrote", "garrote", {"folds": 5})),
    ("garrote, gamma by free energy", "path", Contender("garrote", "garrote")),
    ("abess, 5-fold cv", "cv", Contender("abess", "abess", {"folds": 5})),
    ("abess, EBIC", "path", Contender("abess", "abess")),
    ("LassoCV, 5 folds", "cv", Contender("LassoCV", "scikit_learn", {"folds": 5})),
    ("susie, 20 effects, PIP > .5", "path", Contender("susie", "susie", {"effects": 20})),
)
# Ten seeds of the same law, measured earlier: median seconds, mean F1, mean l1 error.
QUOTED = (
    ("mr.ash (PIP > .5)", 0.511, 0.776, 7.69),
    ("varbvs (PIP > .5)", 1.449, 0.764, 7.69),
    ("L0Learn L0L2, 5-fold cv", 0.235, 0.735, 8.06),
    ("OMPCV", 0.037, 0.695, 8.59),
    ("ncvreg MCP, 5-fold cv", 0.460, 0.575, 8.34),
)
HARD_NOTE = "Mean over seeds, +- its standard error; seconds are the median."
NOTE = f"{HARD_NOTE} Quoted rows were not run here: ten seeds of the same law, measured earlier."


def run(settings):
    seeds = QUICK_SEEDS if settings.quick else SEEDS
    wanted = [row for row in CONTENDERS if row[2].library in ("garrote", *settings.rivals)]
    once, results = replace(settings, reps=1), {label: [] for label, *_ in wanted}
    for seed in range(seeds):
        say(f"hard, seed {seed}")
        law = problems.HARD
        problem = problems.dense(
            law["N"], law["D"], seed, **{k: law[k] for k in ("k", "rho", "snr")}
        )
        folder = problems.save(problem, settings.scratch / f"hard-{seed}")
        for label, task, contender in wanted:
            results[label] += take_turns(once, [contender], task, folder).values()
        shutil.rmtree(folder)
    table = Table(
        f"Hard recovery: N = {law['N']}, D = {law['D']}, k = {law['k']}, {seeds} seeds",
        ["method", "seconds", "F1", "l1 error", "selected"],
        note=NOTE,
    )
    for label, found in results.items():
        table.add(label, *summary(found))
    for label, *figures in QUOTED:
        table.add(f"{label}, quoted", *figures, None)
    return [table], results


def summary(found):
    kept = [result for result in found if "skipped" not in result]
    if not kept:
        return found[0]["skipped"], None, None, None
    lost = f" ({len(found) - len(kept)} failed)" if len(kept) < len(found) else ""
    seconds = f"{np.median([result['seconds'] for result in kept]):.3f}{lost}"
    return seconds, *(
        mean_and_error([r[name] for r in kept]) for name in ("f1", "l1_error", "selected")
    )


def mean_and_error(values):
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.3g} +- {error:.2g}"
