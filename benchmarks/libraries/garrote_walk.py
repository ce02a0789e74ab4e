"""Ours: one chain over models and nothing else, which is what the samplers of other libraries do.

Options: `walk` ("informed" or "metropolis") and `steps`. Unlike a fit of `SpikeSlabRegressor` the chain
starts from the empty model: no mean field leads it, and nothing is summarised but its averages.
"""

import numpy as np

from libraries.answers import Answer, measure_here
from libraries.garrote import version  # noqa: F401 - of the same package


def measure(job):
    from garrote.priors.inclusion import Inclusion
    from garrote.priors.slab import GaussianSlab
    from garrote.problem import Problem
    from garrote.solvers.models.informed_sampler import InformedWalk
    from garrote.solvers.models.metropolis import MetropolisWalk
    from garrote.solvers.models.model_chain import Target, run_chain

    walks = {"informed": InformedWalk, "metropolis": MetropolisWalk}
    walk, steps = walks[job["options"]["walk"]], job["options"]["steps"]

    def fit(data):
        problem = Problem.from_rows(data.X, data.y)
        N, D = data.X.shape
        # The priors of SpikeSlabRegressor: an unknown slab variance, and Beta(1, sqrt D).
        inclusion = Inclusion.beta(1.0, np.sqrt(D), np.zeros(D))
        target = Target(problem, GaussianSlab(None), inclusion, N - 1.0)
        return problem, run_chain(walk(target, np.random.default_rng(0)), steps=steps, burn_in=0)

    def read_answer(fitted, data):
        problem, chain = fitted
        unit = problem.scale.response_scale / problem.scale.column_scale
        return Answer(coef=chain.mean * unit, selected=chain.inclusion > 0.5)

    return measure_here(job, fit, read_answer)
