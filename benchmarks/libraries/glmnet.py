"""R's glmnet: the lasso path over the common lambdas, of numbers or labels, and its cross-validation.

Options: `thresh` (1e-7 is its default), `folds`.
"""

import numpy as np

from libraries.answers import Answer
from libraries.rscript import measure_in_r, package_version


def version():
    return package_version("glmnet")


def measure(job):
    lambdas = np.fromfile(f"{job['folder']}/lambdas.bin")

    def read_answer(path, chosen, _):
        if job["task"] in (
            "label_cv",
            "class_cv",
        ):  # with an intercept, which the gap does not know
            return Answer(coef=chosen)
        return Answer(coefficients=path, lambdas=lambdas[: path.shape[0]], coef=chosen)

    return measure_in_r(job, "glmnet.R", read_answer)
