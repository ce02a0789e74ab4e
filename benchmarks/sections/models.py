"""Posteriors over models: all of them summed, mean field, sampled; and recovery where it is hard."""

import shutil
from dataclasses import replace

import numpy as np

import problems
from processes import Contender, say, take_turns
from sections.hard import HARD_NOTE, mean_and_error, summary
from tables import Table, spread

SEEDS, QUICK_SEEDS = 20, 2
N, D, K = 500, 10_000, 20
QUICK_N, QUICK_D = 100, 500
COLUMNS, QUICK_COLUMNS = 20, 12
STEPS, QUICK_STEPS = 10_000, 500
WALK_ROWS, WALK_COLUMNS, WALK_K = 500, 200, 10
WALK_STEPS, QUICK_WALK_STEPS = 100_000, 2000
OURS, CHAIN = "garrote_posterior", "garrote_walk"
HEADINGS = ["method", "seconds", "of processor", "MiB above the data", "claimed error", "F1"]
NOTE = (
    "Seconds: fastest .. slowest repetition; beside it the least that the process computed. "
    "Quoted rows were not run here: the same law of data on another "
    "machine of this kind, measured earlier."
)
# (method, seconds, MiB)
QUOTED = {
    "enumeration": (("BAS, deterministic", 5.62, 2250), ("BMS, enumerate", 36.4, None)),
    "mean field": (("varbvs, 20-point grid", 8.75, None), ("mr.ash", 1.59, None)),
    "walking": (("BAS, MCMC", 1.25, None),),
    "sampling": (("millipede, 2.5 ms a step at (500, 1000)", 25.0, None),),
}


def run(settings):
    parts = {
        "enumeration": enumeration(settings),
        "mean field": mean_field(settings),
        "walking": walking(settings),
        "sampling": sampling(settings),
    }
    quoted = {} if settings.quick else QUOTED  # of the full sizes
    tables = [tabulate(*part, quoted.get(name, ())) for name, part in parts.items()]
    tables[0].note = NOTE
    table, hard_results = hard(settings)
    results = {name: found for name, (_, found) in parts.items()} | {"hard": hard_results}
    return [*tables, table], results


def enumeration(settings):
    columns = QUICK_COLUMNS if settings.quick else COLUMNS
    exact = {"method": "enumerate", "columns": columns}
    fixed = exact | {"g": float(N), "inclusion": 0.5}
    contenders = [
        Contender("garrote, g = N", OURS, fixed),
        Contender("garrote, g = N, first fit, nothing compiled", OURS, fixed, True, 1),
        Contender("garrote, unknown slab variance", OURS, exact),
    ]
    if "bms" in settings.rivals:
        contenders.append(Contender("BMS, g = N", "bms", reps=1))
    problem = problems.dense(N, columns, settings.seed, k=5)
    return f"all 2^{columns} models, N = {N}", measured(settings, contenders, problem)


def mean_field(settings):
    rows, columns = (QUICK_N, QUICK_D) if settings.quick else (N, D)
    options = {"method": "mean-field"}
    contenders = [
        Contender("garrote, averaged over priors", OURS, options),
        Contender("garrote, the same, first fit, nothing compiled", OURS, options, True, 1),
    ]
    found = measured(settings, contenders, problems.dense(rows, columns, settings.seed, k=K))
    by_rows = [Contender("garrote, averaged over priors, X in C order", OURS, options)]
    problem = problems.dense(rows, columns, settings.seed, k=K, order="C")
    found |= measured(settings, by_rows, problem)
    return f"mean field, N = {rows}, D = {columns}, X in Fortran order", found


def walking(settings):
    steps = QUICK_WALK_STEPS if settings.quick else WALK_STEPS
    options = {"method": "metropolis", "n_steps": steps, "burn_in": 0, "n_chains": 1}
    contenders = [
        Contender("garrote, the chain alone", CHAIN, {"walk": "metropolis", "steps": steps}),
        Contender("garrote, one chain from a mean field, summarised", OURS, options),
    ]
    problem = problems.dense(WALK_ROWS, WALK_COLUMNS, settings.seed, k=WALK_K)
    title = f"{steps:,} Metropolis steps, N = {WALK_ROWS}, D = {WALK_COLUMNS}, {WALK_K} variables"
    return title, measured(settings, contenders, problem)


def sampling(settings):
    rows, columns = (QUICK_N, QUICK_D) if settings.quick else (N, D)
    steps = QUICK_STEPS if settings.quick else STEPS
    options = {"method": "sample", "n_steps": steps, "burn_in": 0, "n_chains": 1}
    contenders = [
        Contender("garrote, the chain alone", CHAIN, {"walk": "informed", "steps": steps}),
        Contender("garrote, one chain from a mean field, summarised", OURS, options),
        Contender("garrote, the same, first fit, nothing compiled", OURS, options, True, 1),
    ]
    problem = problems.dense(rows, columns, settings.seed, k=K)
    title = f"{steps:,} informed steps, N = {rows}, D = {columns}, {K} variables"
    return title, measured(settings, contenders, problem)


def measured(settings, contenders, problem):
    say(f"models, {problem.X.shape}")
    folder = problems.save(problem, settings.scratch / "models")
    found = take_turns(settings, contenders, "posterior", folder)
    shutil.rmtree(folder)
    return found


def tabulate(title, found, quoted):
    table = Table(f"Posterior over models: {title}", HEADINGS)
    for label, result in found.items():
        if "skipped" in result:
            table.add(label, result["skipped"], None, None, None, None)
            continue
        mebibytes = None if result["memory"] is None else result["memory"] / 2**20
        claimed = f"{result['claimed']:.1e}" if "claimed" in result else None
        seconds = spread(result["all_seconds"]), result["processor"]
        table.add(label, *seconds, mebibytes, claimed, result["f1"])
    for label, seconds, mebibytes in quoted:
        table.add(f"{label}, quoted", seconds, None, mebibytes, None, None)
    return table


def hard(settings):
    """Recovery on the hard law, paired by seed with abess."""
    contenders = {"garrote, Gaussian slab": ("posterior", Contender("garrote", OURS))}
    if "abess" in settings.rivals:
        contenders["abess, 5-fold cv"] = "cv", Contender("abess", "abess", {"folds": 5})
    law, once = problems.HARD, replace(settings, reps=1)
    seeds = QUICK_SEEDS if settings.quick else SEEDS
    results = {label: [] for label in contenders}
    for seed in range(seeds):
        say(f"models, hard, seed {seed}")
        shape = {key: law[key] for key in ("k", "rho", "snr")}
        folder = problems.save(
            problems.dense(law["N"], law["D"], seed, **shape), settings.scratch / "models-hard"
        )
        for label, (task, contender) in contenders.items():
            results[label] += take_turns(once, [contender], task, folder).values()
        shutil.rmtree(folder)
    title = f"Posterior over models: hard recovery, N = {law['N']}, D = {law['D']}, {seeds} seeds"
    table = Table(title, ["method", "seconds", "F1", "l1 error", "selected"], note=HARD_NOTE)
    for label, found in results.items():
        table.add(label, *summary(found))
    ours, *rivals = results.values()
    if rivals and not any("skipped" in result for result in (*ours, *rivals[0])):
        table.add("difference, paired", "", *differences(ours, rivals[0]), "")
    return table, results


def differences(ours, theirs):
    """Mean over seeds of ours less theirs, with its standard error."""
    return [
        mean_and_error(np.array([a[key] - b[key] for a, b in zip(ours, theirs, strict=True)]))
        for key in ("f1", "l1_error")
    ]
