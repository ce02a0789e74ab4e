"""One measurement in a process of its own.

`python measure.py job.json` writes `result.json` beside the job.

A job names a library, a task, the problem's folder and the library's options. Threads come from the
environment, set by the parent before any numerical library is loaded.
"""

import importlib
import json
import sys
from pathlib import Path

import numpy as np

import certificates
import problems


def main(job_file):
    job = json.loads(Path(job_file).read_text())
    adapter = importlib.import_module(f"libraries.{job['library']}")
    try:
        result = {"library": job["library"], "version": adapter.version()}
    except (ImportError, FileNotFoundError) as absent:
        result = {"skipped": str(absent)}
    else:
        measurement = adapter.measure(job)
        result |= {
            "seconds": measurement.seconds,
            "processor": measurement.processor,
            "memory": measurement.memory,
            "design_bytes": measurement.design_bytes,
        }
        if job["judge"]:
            result |= judge(measurement.answer, problems.load(job["folder"]), job)
    Path(job_file).with_name("result.json").write_text(json.dumps(result))


def judge(answer, problem, job):
    """Compare an answer with the truth and compute its certificate."""
    verdict = {}
    if answer.coefficients is not None:
        verdict["points"] = answer.coefficients.shape[0]
    if answer.lambdas is not None:
        given = problem.X, problem.y, answer.lambdas, answer.coefficients
        if job["task"] == "groups":
            verdict["gap"] = certificates.group_gap(*given, job["options"]["size"])
        else:
            labels = job["task"] == "labels"
            verdict["gap"] = (certificates.logistic_gap if labels else certificates.lasso_gap)(
                *given
            )
    if answer.garrote_state is not None:
        violation = certificates.garrote_violation(
            problem.X, problem.y, coefficients=answer.coefficients, **answer.garrote_state
        )
        verdict["violation"] = float(violation.max())
    if answer.claimed is not None:
        verdict["claimed"] = float(answer.claimed)
    if answer.draws is not None:
        verdict["draws"] = answer.draws
    coef, selected = answer.coef, answer.selected
    if coef is None:
        coef = most_truthful(answer.coefficients, problem.truth)
    if selected is None:
        selected = coef != 0
    return verdict | {
        "selected": int(np.count_nonzero(selected)),
        "f1": f1_score(selected, problem.truth),
        "l1_error": float(np.abs(coef - problem.truth).sum()),
    }


def most_truthful(coefficients, truth):
    """The point of a path with the best F1: more than any rule of choice could get from it."""
    points = (row.toarray().ravel() for row in coefficients)
    return max(points, key=lambda coef: f1_score(coef != 0, truth))


def f1_score(selected, truth):
    hits = np.count_nonzero(selected & (truth != 0))
    return 2 * hits / max(1, np.count_nonzero(selected) + np.count_nonzero(truth))


if __name__ == "__main__":
    main(sys.argv[1])
