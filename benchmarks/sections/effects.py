"""Single effects beside susieR: seconds at the same number of effects, and sets on real genotypes.

Genotypes are read from the folder that GARROTE_DATA names, and left out where there are none. On each
table responses are drawn from one to five columns at random, each of which explains 3 to 10 % of the
variance; a set covers if it holds one of them.
"""

import shutil
import subprocess
import tempfile
import time
import warnings

import numpy as np

import problems
from libraries.rscript import HERE
from processes import Contender, say
from sections.models import HEADINGS, measured
from tables import Table, spread

SIZES, QUICK_SIZES = ((500, 10_000), (1000, 50_000)), ((100, 500),)
EFFECTS = 20
OURS = "garrote_effects"
RESPONSES, QUICK_RESPONSES = 100, 4
GENOTYPES = ("N2finemapping.npz", "N3finemapping.npz", "mice_genotypes.npz")
COLUMNS = 1000  # of the mice, in a row, at a random place
SHARES = (0.03, 0.1)  # of the variance that one column explains


def run(settings):
    tables, results = [], {}
    for rows, columns in QUICK_SIZES if settings.quick else SIZES:
        found = timing(settings, rows, columns)
        tables.append(tabulate(rows, columns, found))
        results[f"{rows}, {columns}"] = found
    table, results["sets"] = coverage(settings)
    return [*tables, table], results


def timing(settings, rows, columns):
    plain = {"effects": EFFECTS, "refine": False}
    contenders = [
        Contender(f"garrote, {EFFECTS} effects", OURS, plain),
        Contender(f"garrote, {EFFECTS} effects, refined", OURS, {"effects": EFFECTS}),
        Contender("garrote, number of effects found, refined", OURS),
        Contender(f"garrote, {EFFECTS} effects, first fit, nothing compiled", OURS, plain, True, 1),
    ]
    if "susie" in settings.rivals:
        susie = Contender(f"susieR, {EFFECTS} effects", "susie", {"effects": EFFECTS}, reps=1)
        contenders.append(susie)
    problem = problems.dense(rows, columns, settings.seed, k=EFFECTS)
    return measured(settings, contenders, problem)


def tabulate(rows, columns, found):
    title = f"Single effects: N = {rows}, D = {columns}, {EFFECTS} variables"
    table = Table(title, [*HEADINGS, "l1 error"])
    for label, result in found.items():
        if "skipped" in result:
            table.add(label, result["skipped"], None, None, None, None, None)
            continue
        mebibytes = None if result["memory"] is None else result["memory"] / 2**20
        claimed = f"{result['claimed']:.1e}" if "claimed" in result else None
        seconds = spread(result["all_seconds"]), result["processor"]
        table.add(label, *seconds, mebibytes, claimed, result["f1"], result["l1_error"])
    return table


def coverage(settings):
    """Draw responses on real genotypes; count how many 95 % sets hold a column that matters."""
    headings = [
        "genotypes",
        "method",
        "sets",
        "coverage",
        "found",
        "median size",
        "median purity",
        "s",
    ]
    table = Table("Single effects: 95 % credible sets on real genotypes", headings)
    results = {}
    for name in GENOTYPES:
        X = genotypes(name, settings.seed)
        if X is None:
            say(f"effects: {name} is not in the folder that GARROTE_DATA names, and left out")
            continue
        say(f"effects, {name}")
        count = QUICK_RESPONSES if settings.quick else RESPONSES
        Y, truth = draw_responses(X, count, settings.seed)
        sets = {"garrote, refined": our_sets(X, Y)}
        if "susie" in settings.rivals and shutil.which("Rscript"):
            sets["susieR"] = susie_sets(settings, X, Y)
        for method, (found, seconds) in sets.items():
            judged = judge(found, truth)
            results[f"{name}, {method}"] = judged | {"seconds": seconds}
            table.add(name.split(".")[0], method, *judged.values(), seconds)
    return table, results


def genotypes(name, seed):
    from garrote.experiments.data import find

    try:
        path = find(name)
    except FileNotFoundError:
        return None
    with np.load(path, allow_pickle=False) as file:
        X = file["X"].astype(np.float64)
    if X.shape[1] > 2 * COLUMNS:
        start = np.random.default_rng(seed).integers(X.shape[1] - COLUMNS)
        X = X[:, start : start + COLUMNS]
    return np.asfortranarray(X[:, X.std(axis=0) > 0])


def draw_responses(X, count, seed):
    """Return responses as columns, and for each the columns of X that matter."""
    rng = np.random.default_rng(seed)
    Y, truth = np.empty((len(X), count), order="F"), []
    for k in range(count):
        places = rng.choice(X.shape[1], rng.integers(1, 6), replace=False)
        share = rng.uniform(*SHARES, len(places))
        unit = (X[:, places] - X[:, places].mean(axis=0)) / X[:, places].std(axis=0)
        signal = unit @ (np.sqrt(share) * rng.choice([-1.0, 1.0], len(places)))
        Y[:, k] = signal + np.sqrt(1.0 - share.sum()) * rng.standard_normal(len(X))
        truth.append(set(places.tolist()))
    return Y, truth


def our_sets(X, Y):
    from garrote import SingleEffectsRegressor

    found = []
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, y in enumerate(Y.T):
            posterior = SingleEffectsRegressor().fit(X, y).posterior_
            found += [
                (k, one.purity, set(one.variables.tolist())) for one in posterior.credible_sets()
            ]
    return found, time.perf_counter() - start


def susie_sets(settings, X, Y):
    problem = problems.RegressionProblem(X, Y[:, 0], np.zeros(X.shape[1]), np.ones(1))
    with tempfile.TemporaryDirectory(dir=settings.scratch) as room:
        folder = problems.save(problem, room)
        Y.T.tofile(folder / "Y.bin")
        words = {"folder": folder, "out": folder, "N": X.shape[0], "D": X.shape[1], "sparse": 0}
        command = ["Rscript", "--vanilla", str(HERE / "susie_sets.R"), str(HERE)]
        command += [f"{key}={value}" for key, value in words.items()]
        subprocess.run(command, check=True, capture_output=True)
        head, *lines = (folder / "sets.txt").read_text().splitlines()
    found = []
    for line in lines:
        which, members = line.split(" : ")
        response, purity = which.split()
        found.append((int(response), float(purity), set(map(int, members.split()))))
    return found, float(head.split()[1])


def judge(found, truth):
    holds = [bool(members & truth[k]) for k, _, members in found]
    seen = {(k, j) for k, _, members in found for j in members & truth[k]}
    return {
        "sets": len(found),
        "coverage": float(np.mean(holds)) if holds else float("nan"),
        "found": len(seen) / sum(map(len, truth)),
        "size": float(np.median([len(members) for _, _, members in found])),
        "purity": float(np.median([purity for _, purity, _ in found])),
    }
