"""Times until an event: the lasso path of Cox's model beside glmnet's.

Both get the same columns, times and strengths, glmnet's own. It ends where its deviance moves by less
than its default allows, garrote at a duality gap of 1e-5; what its fits lack of the optimum is measured
by the objective that both minimise. Seconds are the processor's, the least of all turns on one thread,
so that a busy machine counts little.
"""

import json
import os
import shutil
import subprocess
import sys

import numpy as np

from processes import say
from tables import Table

IN_R = """
suppressPackageStartupMessages({ library(glmnet); library(survival) })
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]; n <- as.integer(given[2]); D <- as.integer(given[3]); turns <- as.integer(given[4])
X <- matrix(readBin(file.path(folder, "X.bin"), "double", n * D), n, D)
number <- function(name) readBin(file.path(folder, name), "double", n)
y <- Surv(number("time.bin"), number("event.bin"))
best <- Inf
for (turn in seq_len(turns)) {
  spent <- system.time(fit <- glmnet(X, y, family = "cox", standardize = FALSE))
  best <- min(best, spent[["user.self"]] + spent[["sys.self"]])
}
writeBin(fit$lambda, file.path(folder, "lambda.bin"))
writeBin(as.double(as.matrix(fit$beta)), file.path(folder, "beta.bin"))
cat(best)
"""
HERE = """
import sys, time, json
import numpy as np
from garrote import Problem
from garrote.likelihoods import Cox, survival_times
from garrote.paths.annealed import fit_path
from garrote.penalties import L1
from garrote.solvers.control import Control
folder, n, D, turns = sys.argv[1], *map(int, sys.argv[2:])
X = np.fromfile(folder + "/X.bin").reshape(D, n).T
y = survival_times(np.fromfile(folder + "/time.bin"), np.fromfile(folder + "/event.bin"))
problem = Problem.from_rows(X, y, likelihood=Cox("breslow"), standardize=False, scale_response=False)
lambdas = np.fromfile(folder + "/lambda.bin")
best = np.inf
for turn in range(turns + 1):  # the first warms up
    start = time.process_time()
    path = fit_path(problem, L1(), lambdas, control=Control(1e-5))
    best = min(best, time.process_time() - start) if turn else best
from garrote.likelihoods.coupled import weighted_deviance
theirs = np.fromfile(folder + "/beta.bin").reshape(-1, D)
given, weights = problem.likelihood, problem.weights
null = path.null_loss
def objective(coef, strength):
    loss = weighted_deviance(given, problem.response, weights, X @ coef) / (2 * n)
    return loss + strength * np.abs(coef).sum()
ours = path.coefficients().toarray()
lack = max((objective(b, s) - objective(a, s)) / null for a, b, s in zip(ours, theirs, lambdas))
print(json.dumps([best, float(path.certificate.max()), float(lack), len(path.fits[-1].columns)]))
"""


def run(settings):
    """Measure one size, with --quick a small one."""
    table = Table(
        "The lasso path of Cox's model",
        ["rows, columns", "library", "seconds", "gap, as a share of the null model"],
        note="Of glmnet's fits the gap is by how much our objective is below theirs, at its largest.",
    )
    n, D = (100, 500) if settings.quick else (1000, 10000)
    if shutil.which("Rscript") is None:
        say("survival: Rscript is not on the path, and there are no strengths of glmnet's to take")
        return [], {}
    folder = settings.scratch / "survival"
    folder.mkdir()
    write(folder, n, D, settings.seed)
    say(f"survival, {(n, D)}")
    common = [str(folder), str(n), str(D), str(settings.reps)]
    theirs = float(answer(["Rscript", "--vanilla", "-e", IN_R, *common], settings))
    best, gap, lack, size = json.loads(answer(["python", "-c", HERE, *common], settings))
    table.add(f"{n}, {D}", "glmnet, its default", theirs, lack)
    table.add(f"{n}, {D}", "garrote, gap 1e-5", best, gap)
    return [table], {"glmnet": theirs, "garrote": best, "gap": gap, "lack": lack, "selected": size}


def write(folder, n, D, seed):
    """Write columns in standard deviations, and times of which 20 columns change the hazard."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, D))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = X[:, :20] @ np.tile([0.5, -0.5], 10)
    came, gone = rng.exponential(np.exp(-eta)), rng.exponential(2.0, n)
    X.T.tofile(folder / "X.bin")
    np.minimum(came, gone).tofile(folder / "time.bin")
    (came <= gone).astype(np.float64).tofile(folder / "event.bin")


def answer(command, settings):
    """Return what a program prints, run on one thread."""
    command = [sys.executable if word == "python" else word for word in command]
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=settings.timeout, env=alone
    )
    return done.stdout.strip().splitlines()[-1]
