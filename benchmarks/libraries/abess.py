"""abess: best subsets by splicing, one model chosen by EBIC or by cross-validation.

Options: `largest` (models of 0 to that many features; without it, abess's own limit), `folds`.
"""

from scipy import sparse

from libraries.answers import Answer, measure_here


def version():
    import abess

    return abess.__version__


def measure(job):
    from abess import LinearRegression

    options = job["options"]
    largest = options.get("largest")

    def fit(problem):
        sizes = None if largest is None else range(largest + 1)
        folds = options.get("folds", 5) if job["task"] == "cv" else 1
        model = LinearRegression(
            support_size=sizes, ic_type="ebic", cv=folds, thread=job["threads"], fit_intercept=False
        )
        return model.fit(problem.X, problem.y, sparse_matrix=sparse.issparse(problem.X))

    def read_answer(model, problem):
        return Answer(coef=model.coef_)

    return measure_here(job, fit, read_answer)
