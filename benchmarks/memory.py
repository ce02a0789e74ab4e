"""Memory that each method needs beyond X, in units of X, and the processor time of its fit.

`python benchmarks/memory.py [--rows 2000] [--columns 5000] [method ...]` prints a table in Markdown.
Every method runs in a process of its own, which makes a small fit first, so that what libraries and
compiled code take is not counted. Linux only: the peak is the kernel's own.
"""

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

STEPS = 300, 100, 2


def methods():
    """Return the methods by name: a function that makes the estimator, and whether it takes labels."""
    from garrote.estimators import (
        ShrinkageClassifier,
        ShrinkageRegressor,
        SingleEffectsClassifier,
        SingleEffectsRegressor,
        SparseClassifier,
        SparseRegressor,
        SpikeSlabClassifier,
        SpikeSlabRegressor,
        VariationalGarrote,
        VariationalGarroteClassifier,
    )
    from garrote.inference import Gibbs, Metropolis, Sample, Search
    from garrote.penalties import GroupLasso

    def penalised(penalty, **more):
        return lambda D: SparseRegressor(penalty=penalty, **more)

    def models(method):
        return lambda D: SpikeSlabRegressor(method=method, random_state=0)

    def labels(method):
        return lambda D: SpikeSlabClassifier(method=method, random_state=0)

    numbers = {
        "garrote": lambda D: VariationalGarrote(),
        **{name: penalised(name) for name in ("lasso", "ridge", "adaptive-lasso", "mcp", "scad")},
        **{name: penalised(name) for name in ("log-sum", "bridge", "fused-lasso", "l0")},
        "group-lasso": lambda D: SparseRegressor(penalty=GroupLasso(groups=np.arange(D) // 5)),
        "fista": penalised("lasso", method="fista"),
        "sample": models(Sample(*STEPS)),
        "metropolis": models(Metropolis(*STEPS)),
        "gibbs": models(Gibbs(*STEPS)),
        "search": models(Search(STEPS[0])),
        "mean-field": models("mean-field"),
        "em": models("em"),
        "single-effects": lambda D: SingleEffectsRegressor(),
        "horseshoe": lambda D: ShrinkageRegressor("horseshoe", Gibbs(*STEPS), random_state=0),
    }
    of_labels = {
        "labels: lasso": lambda D: SparseClassifier(),
        "labels: garrote": lambda D: VariationalGarroteClassifier(),
        "labels: mean-field": labels("mean-field"),
        "labels: single-effects": lambda D: SingleEffectsClassifier(),
        "labels: sample": labels(Sample(*STEPS)),
        "labels: horseshoe": lambda D: ShrinkageClassifier(method=Gibbs(*STEPS), random_state=0),
    }
    return {name: (make, False) for name, make in numbers.items()} | {
        name: (make, True) for name, make in of_labels.items()
    }


def data(rows, columns, labels):
    """Return a Fortran-ordered X, made in place, and a response of ten columns."""
    rng = np.random.default_rng(0)
    X = np.empty((rows, columns), order="F")
    for j in range(columns):
        X[:, j] = rng.standard_normal(rows)
    few = X[:, :: max(1, columns // 10)][:, :10]
    y = few @ rng.choice([-1.0, 1.0], few.shape[1]) + rng.standard_normal(rows)
    return X, (y > 0).astype(int) if labels else y


def measure(name, rows, columns):
    """Return the memory of one fit beyond X, in units of X, and its processor time."""
    import warnings

    warnings.simplefilter("ignore")
    make, labels = methods()[name]
    small = data(60, 100, labels)
    make(100).fit(*small)
    X, y = data(rows, columns, labels)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # sets the peak back to what is held now
    before, began = peak(), time.process_time()
    make(columns).fit(X, y)
    return (peak() - before) / X.nbytes, time.process_time() - began


def peak():
    """Return the largest resident memory since it was set back, in bytes."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM"):
                return 1024 * int(line.split()[1])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=5000)
    parser.add_argument("--patience", type=float, default=600.0, help="seconds for each method")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one, options.rows, options.columns)))
        return
    print(f"| method | beyond X, in X ({options.rows} x {options.columns}) | processor |")
    print("|---|---|---|")
    for name in options.methods or methods():
        command = [sys.executable, __file__, "--one", name, f"--rows={options.rows}"]
        command.append(f"--columns={options.columns}")
        try:
            done = subprocess.run(command, capture_output=True, timeout=options.patience, text=True)
        except subprocess.TimeoutExpired:
            print(f"| {name} | not done in {options.patience:.0f} s | |", flush=True)
            continue
        if done.returncode:
            print(f"| {name} | {done.stderr.strip().splitlines()[-1]} | |", flush=True)
            continue
        share, seconds = json.loads(done.stdout)
        print(f"| {name} | {share:.1f} | {seconds:.1f} s |", flush=True)


if __name__ == "__main__":
    main()
