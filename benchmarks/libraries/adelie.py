"""adelie: the group lasso, and the lasso as one with groups of one, by residuals or by the Gram matrix.

Options: `tol` (1e-7 is its default), `covariance` (the Gram matrix is made inside the clock),
`folds`, `size` (of groups).
"""

import numpy as np
from scipy import sparse

from libraries.answers import Answer, measure_here


def version():
    import adelie

    return adelie.__version__


def measure(job):
    import adelie

    options, threads = job["options"], job["threads"]
    settings = {"tol": options.get("tol", 1e-7), "n_threads": threads, "progress_bar": False}

    def fit(problem):
        X, y = problem.X, problem.y
        common = settings | {"lmda_path": problem.lambdas, "early_exit": False}
        if options.get("covariance"):
            gram = np.asfortranarray(X.T @ X) / y.size
            return adelie.gaussian_cov(gram, X.T @ y / y.size, **common)
        wrap = adelie.matrix.sparse if sparse.issparse(X) else adelie.matrix.dense
        X = wrap(X, method="naive", n_threads=threads)
        response = adelie.glm.gaussian(y)
        if job["task"] == "groups":
            size = options["size"] if X.shape[1] % options["size"] == 0 else 10
            first = np.arange(0, X.shape[1], size)
            common |= {"groups": first, "penalty": np.ones(len(first))}
        if job["task"] in ("path", "groups"):
            return adelie.grpnet(X, response, intercept=False, **common)
        folds = {"n_folds": options.get("folds", 5), "seed": 0, "intercept": False}
        validated = adelie.cv_grpnet(X, response, **folds, **settings, min_ratio=1e-2)
        return validated.fit(X, response, intercept=False, **settings)

    def read_answer(state, problem):
        path = sparse.csr_matrix(state.betas)
        if job["task"] in ("path", "groups"):
            return Answer(coefficients=path, lambdas=np.asarray(state.lmdas))
        return Answer(coef=path[-1].toarray().ravel())

    return measure_here(job, fit, read_answer)
