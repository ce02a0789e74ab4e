"""Ours, the penalised half: lasso paths, their cross-validation, logistic ones, LARS and groups.

Options: `tol` (on the relative duality gap), `folds`, `size` (of groups). The task "knots" walks from
knot to knot.
"""

import warnings

import numpy as np

from libraries.answers import Answer, measure_here
from libraries.garrote import version

__all__ = ["measure", "version"]


def measure(job):
    from garrote import Problem, SparseRegressor, fit_path
    from garrote.paths import FollowPath
    from garrote.penalties import L1, GroupLasso

    warnings.simplefilter("ignore")  # convergence warnings; the certificate tells
    options = job["options"]
    plain = {"fit_intercept": False, "standardize": False}

    def fit(problem):
        if job["task"] == "knots":
            rows = Problem.from_rows(problem.X, problem.y, scale_response=False, **plain)
            eps = problem.lambdas[-1] / problem.lambdas[0]
            return fit_path(rows, L1(), solver="homotopy", eps=eps)
        chosen = {"alpha": None}
        if job["task"] == "groups":
            size = options["size"] if problem.X.shape[1] % options["size"] == 0 else 10
            groups = np.arange(problem.X.shape[1]) // size
            chosen["penalty"] = GroupLasso(groups, weights="equal")
        if job["task"] == "cv":
            chosen = {"alpha": "cv", "cv": options["folds"], "n_jobs": job["threads"]}
        family = "binomial" if job["task"] == "labels" else "gaussian"
        model = SparseRegressor(
            family=family,
            method=FollowPath(alphas=problem.lambdas, tol=options.get("tol", 1e-6)),
            **chosen,
            **plain,
        )
        return model.fit(problem.X, problem.y)

    def read_answer(fitted, problem):
        path = getattr(fitted, "path_", fitted)
        claimed = max(fit.certificate["duality gap"] for fit in path.fits)
        coef = fitted.coef_ if job["task"] == "cv" else None
        return Answer(
            coefficients=path.coefficients(),
            lambdas=np.asarray(path.strengths),
            coef=coef,
            claimed=claimed,
        )

    return measure_here(job, fit, read_answer)
