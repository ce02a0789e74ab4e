"""Ours: the posterior over models, by any method of `SpikeSlabRegressor`.

Options: the name of a `method` with its settings, `inclusion`, `g` of a g-prior in place of a slab of
unknown variance, and `columns` (only the first so many of the problem, for enumerations).
"""

import warnings

from libraries.answers import Answer, measure_here
from libraries.garrote import version  # noqa: F401 - of the same package


def measure(job):
    from garrote import SpikeSlabRegressor
    from garrote.inference import METHODS
    from garrote.priors import GaussianSlab, GPrior

    warnings.simplefilter("ignore")  # convergence warnings; the certificate tells
    settings = dict(job["options"])
    columns, inclusion = settings.pop("columns", None), settings.pop("inclusion", None)
    # The others have Gaussian slabs, too.
    prior = GPrior(settings.pop("g")) if "g" in settings else GaussianSlab()
    method = METHODS[settings.pop("method", "auto")](**settings)

    def fit(problem):
        model = SpikeSlabRegressor(
            prior, method, inclusion=inclusion, random_state=0, n_jobs=job["threads"]
        )
        return model.fit(problem.X[:, :columns], problem.y)

    def read_answer(model, problem):
        return Answer(
            coef=model.coef_,
            selected=model.inclusion_probability_ > 0.5,
            claimed=model.certificate_.value,
        )

    return measure_here(job, fit, read_answer)
