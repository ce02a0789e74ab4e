"""celer: the lasso path over the common lambdas by working sets and dual extrapolation.

Options: `tol` (1e-6 is its default). Its LassoCV does not run on today's scikit-learn.
"""

import warnings

from scipy import sparse

from libraries.answers import Answer, measure_here


def version():
    import celer

    return celer.__version__


def measure(job):
    from celer import celer_path

    warnings.simplefilter("ignore")  # convergence warnings; the gap tells

    def fit(problem):
        tol = job["options"].get("tol", 1e-6)
        return celer_path(problem.X, problem.y, pb="lasso", alphas=problem.lambdas, tol=tol)

    def read_answer(fitted, problem):
        lambdas, coefficients, _ = fitted
        return Answer(coefficients=sparse.csr_matrix(coefficients.T), lambdas=lambdas)

    return measure_here(job, fit, read_answer)
