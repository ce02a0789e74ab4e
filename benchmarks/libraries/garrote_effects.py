"""Ours: a sum of single effects.

Options: those of `garrote.priors.SingleEffects`.
"""

from libraries.answers import Answer, measure_here
from libraries.garrote import version  # noqa: F401 - of the same package


def measure(job):
    from garrote import SingleEffectsRegressor
    from garrote.priors import SingleEffects

    def fit(problem):
        prior = SingleEffects(**job["options"])
        return SingleEffectsRegressor(prior).fit(problem.X, problem.y)

    def read_answer(model, problem):
        return Answer(
            coef=model.coef_,
            selected=model.inclusion_probability_ > 0.5,
            claimed=model.certificate_.value,
        )

    return measure_here(job, fit, read_answer)
