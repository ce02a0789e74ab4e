"""Ours: the posterior over models, by any method of `BayesianSelector`.

Options: its settings, and `columns` (only the first so many of the problem, for enumerations).
"""

import warnings

from libraries.answers import Answer, measure_here
from libraries.garrote import version  # noqa: F401 - of the same package


def measure(job):
    from garrote import BayesianSelector

    warnings.simplefilter("ignore")  # convergence warnings; the certificate tells
    settings = dict(job["options"])
    columns = settings.pop("columns", None)

    def fit(problem):
        model = BayesianSelector(random_state=0, n_jobs=job["threads"], **settings)
        return model.fit(problem.X[:, :columns], problem.y)

    def read_answer(model, problem):
        return Answer(
            coef=model.coef_,
            selected=model.inclusion_probability_ > 0.5,
            claimed=model.certificate_.value,
        )

    return measure_here(job, fit, read_answer)
