"""scikit-learn: `lasso_path` over the common lambdas, `lars_path` down to the last, and `LassoCV`;
for labels `LogisticRegressionCV`.

Options: `tol` (1e-4 is its default), `folds`.
"""

import warnings

from scipy import sparse

from libraries.answers import Answer, measure_here


def version():
    import sklearn

    return sklearn.__version__


def measure(job):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LassoCV, LogisticRegressionCV, lars_path, lasso_path

    warnings.simplefilter("ignore", ConvergenceWarning)  # the gap tells
    options = job["options"]
    tol = options.get("tol", 1e-4)

    def fit(problem):
        X, y, lambdas = problem.X, problem.y, problem.lambdas
        if job["task"] == "path":
            return lasso_path(X, y, alphas=lambdas, tol=tol)
        if job["task"] == "knots":
            alphas, _, coefficients = lars_path(
                X, y, method="lasso", alpha_min=lambdas[-1], max_iter=10 * max(X.shape)
            )
            return alphas, coefficients, None
        folds, jobs = options.get("folds", 5), job["threads"]
        if job["task"] == "label_cv":
            strengths = 1.0 / (len(y) * lambdas)
            return LogisticRegressionCV(
                Cs=strengths, l1_ratios=(1.0,), solver="liblinear", cv=folds, n_jobs=jobs,
                scoring="neg_log_loss", tol=tol, use_legacy_attributes=False,
            ).fit(X, y)  # fmt: skip
        return LassoCV(alphas=lambdas, cv=folds, tol=tol, n_jobs=jobs, fit_intercept=False).fit(
            X, y
        )

    def read_answer(fitted, problem):
        if job["task"] in ("path", "knots"):
            lambdas, coefficients, _ = fitted
            return Answer(coefficients=sparse.csr_matrix(coefficients.T), lambdas=lambdas)
        return Answer(coef=fitted.coef_.ravel())

    return measure_here(job, fit, read_answer)
