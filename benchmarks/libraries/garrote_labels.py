"""Ours for labels: Bayesian selection, the Variational Garrote, and a cross-validated lasso.

Options: `estimator` ("bayes", "garrote" or "lasso"), `folds`, and for "bayes" those of
`garrote.BayesianClassifier`.
"""

import warnings

import numpy as np

from libraries.answers import Answer, measure_here
from libraries.garrote import version

__all__ = ["measure", "version"]


def measure(job):
    from garrote import BayesianClassifier, SparseClassifier, VariationalGarroteClassifier

    warnings.simplefilter("ignore")  # on Monte Carlo errors; the table tells
    options = dict(job["options"])
    estimator, folds = options.pop("estimator"), options.pop("folds", 5)

    def fit(problem):
        if estimator == "bayes":
            model = BayesianClassifier(random_state=0, **options)
        elif estimator == "garrote":
            model = VariationalGarroteClassifier(cv=folds)
        else:
            model = SparseClassifier(
                alpha="cv", alphas=problem.lambdas, cv=folds, standardize=False
            )
        return model.fit(problem.X, problem.y)

    def read_answer(model, problem):
        coef = np.ravel(model.coef_)
        return Answer(coef=coef, selected=model.get_support(), draws=worth(model, problem))

    return measure_here(job, fit, read_answer)


def worth(model, problem):
    """How many independent draws of a true effect there are: the median over them."""
    size = getattr(getattr(model, "posterior_", None), "effective_sample_size", None)
    return None if size is None else float(np.median(size[problem.truth != 0]))
