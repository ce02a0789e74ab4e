"""Greedy searches: splicing beside abess, many pursuits beside spams, best subsets beside leaps.

Of each task all libraries take turns in one process, on one thread (leaps in R, which reads the same
numbers and has a clock of its own). Seconds are the least of the processor's over all turns, so that a
busy machine counts little.
"""

import shutil

from processes import run_program, say
from tables import Table

COMMON = """
import json, os, subprocess, sys, tempfile, time, warnings
import numpy as np
warnings.simplefilter("ignore")

def least(solvers, turns):
    best, answers = {}, {}
    for turn in range(turns + 1):  # the first warms up
        for name, solve in solvers.items():
            start = time.process_time()
            answers[name] = solve()
            seconds = time.process_time() - start
            if turn:
                best[name] = min(best.get(name, np.inf), seconds)
    return best, answers
"""
SPLICING = """
sys.path.insert(0, sys.argv[1])
import problems
from garrote import GreedyRegressor
n, D, seed, turns = map(int, sys.argv[2:])
problem = problems.dense(n, D, seed, order="C")
X, y, truth = problem.X, problem.y, problem.truth
settings = dict(max_features=40, criterion="ebic", fit_intercept=False)
solvers = {
    "garrote, splicing": lambda: GreedyRegressor("splicing", **settings).fit(X, y),
    "garrote, omp": lambda: GreedyRegressor("omp", **settings).fit(X, y),
}
try:
    from abess import LinearRegression
    solvers["abess, EBIC"] = lambda: LinearRegression(
        support_size=range(41), ic_type="ebic", thread=1, fit_intercept=False
    ).fit(X, y)
except ImportError:
    pass
best, models = least(solvers, turns)
rows = []
for name, model in models.items():
    found, true = set(np.flatnonzero(model.coef_)), set(np.flatnonzero(truth))
    inside = sorted(found)
    left = y - X[:, inside] @ np.linalg.lstsq(X[:, inside], y, rcond=None)[0]
    rows.append([name, best[name], len(found), len(found & true), float(left @ left / (y @ y))])
print(json.dumps(rows))
"""
PURSUITS = """
from garrote.greedy import omp_many
count, turns = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
atoms = rng.standard_normal((256, 64))
atoms /= np.linalg.norm(atoms, axis=1)[:, None]
signals = rng.standard_normal((count, 64))
solvers = {"garrote": lambda: omp_many(atoms, signals, 10)}
try:
    import spams
    columns, dictionary = np.asfortranarray(signals.T), np.asfortranarray(atoms.T)
    solvers["spams"] = lambda: spams.omp(columns, dictionary, L=10, numThreads=1).T
except ImportError:
    pass
from sklearn.linear_model import orthogonal_mp_gram
gram, products = atoms @ atoms.T, (signals @ atoms.T).T
solvers["scikit-learn, Gram"] = lambda: orthogonal_mp_gram(gram, products, n_nonzero_coefs=10).T
best, codes = least(solvers, turns)
print(json.dumps([
    [name, best[name], float(np.sum((signals - code @ atoms) ** 2) / np.sum(signals**2))]
    for name, code in codes.items()
]))
"""
SUBSETS = """
from garrote import GreedyRegressor
D, turns = map(int, sys.argv[1:])
rows = []
for kind in ("signal", "noise"):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, D))
    for j in range(1, D):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    y = rng.standard_normal(500) + (X[:, ::3].sum(axis=1) if kind == "signal" else 0.0)
    solvers = {"garrote": lambda: GreedyRegressor("best-subset", max_features=D).fit(X, y)}
    best, models = least(solvers, turns)
    squared = [2 * 500 * fit.loss for fit in models["garrote"].path_.fits[1:]]
    rows.append([kind, "garrote", best["garrote"], 0.0])
    with tempfile.TemporaryDirectory() as folder:
        X.T.tofile(f"{folder}/X.bin"), y.tofile(f"{folder}/y.bin")
        script = '''
        suppressPackageStartupMessages(library(leaps))
        a <- commandArgs(trailingOnly = TRUE); D <- as.integer(a[2]); turns <- as.integer(a[3])
        X <- matrix(readBin(file.path(a[1], "X.bin"), "double", 500 * D), 500)
        y <- readBin(file.path(a[1], "y.bin"), "double", 500)
        best <- Inf
        for (turn in 0:turns) {
          spent <- system.time(found <- regsubsets(X, y, nvmax = D, really.big = TRUE))
          best <- min(best, spent[["user.self"]] + spent[["sys.self"]])
        }
        cat(best, found$ress[-1])
        '''
        command = ["Rscript", "--vanilla", "-e", script, folder, str(D), str(turns)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        seconds, *theirs = map(float, done.stdout.split())
        rows.append([kind, "leaps", seconds, float(np.max(np.abs(np.array(theirs) / squared - 1)))])
print(json.dumps(rows))
"""


def run(settings):
    from pathlib import Path

    here, turns = Path(__file__).parents[1], 1 if settings.quick else max(settings.reps, 3)
    n, D = (200, 500) if settings.quick else (1000, 10_000)
    tables, results = [], {}
    say("greedy: splicing")
    found, why = run_program(settings, COMMON + SPLICING, here, n, D, settings.seed, turns)
    table = Table(
        f"Best subsets of 0 to 40 of {D} columns, {n} rows, 20 true ones, by EBIC",
        ["search", "seconds", "selected", "of them true", "error left"],
        note=why or "",
    )
    for row in found or []:
        table.add(*row)
    tables.append(table)
    results["splicing"] = found
    say("greedy: many pursuits")
    count = 1000 if settings.quick else 10_000
    found, why = run_program(settings, COMMON + PURSUITS, count, turns)
    note = "spams takes in what lowers the error most, the others what resembles the residual most."
    table = Table(
        f"Orthogonal matching pursuit: {count} signals of 64 entries, 256 atoms, 10 of them each",
        ["library", "seconds", "error left"],
        note=why or note,
    )
    for row in found or []:
        table.add(*row)
    tables.append(table)
    results["pursuits"] = found
    if shutil.which("Rscript") is None:
        return tables, results
    say("greedy: best subsets")
    D = 15 if settings.quick else 30
    found, why = run_program(settings, COMMON + SUBSETS, D, turns)
    table = Table(
        f"The best subset of each size, exactly: {D} columns, 500 rows, neighbours correlated by 0.5",
        ["response", "library", "seconds", "largest difference of errors"],
        note=why or "All sizes are certified by garrote: nothing else could be better.",
    )
    for row in found or []:
        table.add(*row)
    tables.append(table)
    results["subsets"] = found
    return tables, results
