"""Seconds of a path as the number of features doubles, at 500 samples."""

import shutil

import numpy as np

import problems
from processes import Contender, say, take_turns
from tables import Table

N = 500
FEATURES, QUICK_FEATURES = (12500, 25000, 50000, 100000), (250, 500, 1000)
CONTENDERS = (
    Contender("garrote, tol 1e-2", "garrote", {"tol": 1e-2}),
    Contender("glmnet, thresh 1e-7", "glmnet", {"thresh": 1e-7}),
    Contender("adelie, tol 1e-7", "adelie", {"tol": 1e-7}),
)
NOTE = "Power: the slope of log seconds over log D; 1 is linear."


def run(settings):
    features = QUICK_FEATURES if settings.quick else FEATURES
    wanted = [c for c in CONTENDERS if c.library in ("garrote", *settings.rivals)]
    results = {}
    for D in features:
        say(f"scaling, ({N}, {D})")
        folder = problems.save(
            problems.dense(N, D, settings.seed), settings.scratch / f"scaling-{D}"
        )
        results[D] = take_turns(settings, wanted, "path", folder)
        shutil.rmtree(folder)
    table = Table(
        f"Scaling: seconds at N = {N}",
        ["library", *(f"D = {D}" for D in features), "power"],
        note=NOTE,
    )
    for contender in wanted:
        seconds = [results[D][contender.label].get("seconds") for D in features]
        table.add(contender.label, *seconds, power(features, seconds))
    return [table], results


def power(features, seconds):
    if None in seconds:
        return None
    return f"{np.polyfit(np.log(features), np.log(seconds), 1)[0]:.2f}"
