"""Ours for labels: Bayesian selection, the Variational Garrote, and a cross-validated lasso.

Options: `estimator` ("spike-slab", "single-effects", "garrote" or "lasso"), `folds`, and for
"spike-slab" the name of a `method` with its settings.
"""

import warnings

import numpy as np

from libraries.answers import Answer, measure_here
from libraries.garrote import version

__all__ = ["measure", "version"]


def measure(job):
    from garrote import (
        SingleEffectsClassifier,
        SparseClassifier,
        SpikeSlabClassifier,
        VariationalGarroteClassifier,
    )
    from garrote.inference import METHODS
    from garrote.paths import FollowPath
    from garrote.priors import EffectSlab

    warnings.simplefilter("ignore")  # on Monte Carlo errors; the table tells
    options = dict(job["options"])
    estimator, folds = options.pop("estimator"), options.pop("folds", 5)

    def fit(problem):
        if estimator == "spike-slab":
            own = {name: value for name, value in options.items() if name != "method"}
            method = METHODS[options["method"]](**own)
            model = SpikeSlabClassifier(EffectSlab(), method, random_state=0)
        elif estimator == "single-effects":
            model = SingleEffectsClassifier()
        elif estimator == "garrote":
            model = VariationalGarroteClassifier(cv=folds)
        else:
            model = SparseClassifier(
                alpha="cv", method=FollowPath(alphas=problem.lambdas), cv=folds, standardize=False
            )
        return model.fit(problem.X, problem.y)

    def read_answer(model, problem):
        # Of several classes the largest coefficient of each column.
        coef = np.ravel(model.coef_) if len(model.coef_) == 1 else np.abs(model.coef_).max(axis=0)
        return Answer(coef=coef, selected=model.get_support(), draws=worth(model))

    return measure_here(job, fit, read_answer)


def worth(model):
    """How many independent draws there are of whether a variable is in: the median over doubtful ones.

    Those that are in all states, or in nearly none, have no variance by which to tell.
    """
    posterior = getattr(model, "posterior_", None)
    size = getattr(posterior, "effective_sample_size", None)
    if size is None:
        return None
    doubtful = np.abs(posterior.inclusion_probability - 0.5) < 0.45
    return float(np.median(size[doubtful])) if doubtful.any() else None
