"""Ours: the variational garrote's whole path, annealed and reheated, and its cross-validation.

Options: `tol`, `folds`, `correct` (False: the path alone, as the rivals have it).
"""

import warnings

import numpy as np

from libraries.answers import Answer, measure_here


def version():
    import garrote

    return garrote.__version__


def measure(job):
    from garrote import VariationalGarrote
    from garrote.paths import Anneal

    warnings.simplefilter("ignore")  # convergence warnings; the certificate tells
    options = job["options"]
    settings = {
        "method": Anneal(gammas=50, tol=options.get("tol", 1e-2)),
        "correct": options.get("correct", False),
    }
    if job["task"] == "path":
        settings |= {"gamma": "free_energy"}
    else:
        settings |= {"gamma": "cv", "cv": options.get("folds", 5), "n_jobs": job["threads"]}

    def fit(problem):
        return VariationalGarrote(**settings).fit(problem.X, problem.y)

    def read_answer(model, problem):
        path = model.path_
        return Answer(
            coefficients=path.coefficients(),
            coef=model.coef_,
            selected=model.inclusion_probability_ > 0.5,
            garrote_state={
                "gammas": path.strengths,
                "inclusion": path.inclusion_probability(),
                "precision": 1 / path.noise_variance,
            },
            claimed=np.max(path.certificate),
        )

    return measure_here(job, fit, read_answer)
