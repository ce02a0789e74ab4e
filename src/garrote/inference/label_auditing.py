"""Inclusion probabilities of labels compared with sums over models, each fitted on its own."""

import numpy as np

from garrote.arrays import Floats
from garrote.inference.auditing import audited_columns
from garrote.inference.beliefs import Beliefs
from garrote.likelihoods import Binomial
from garrote.problem import Problem
from garrote.results.posterior import Audit
from garrote.solvers.labels.label_regression import fixed_columns
from garrote.solvers.losses.newton import Samples
from garrote.solvers.models.fitted_models import fit_all_models, make_table

# Variables whose models are summed, at most.
_AUDITED = 10


def audit_labels(
    problem: Problem,
    labels: Floats,
    beliefs: Beliefs,
    variance: float,
    inclusion: Floats,
    mean: Floats,
) -> Audit:
    """Sum over all models of the variables that matter by Laplace, the others at their means."""
    usable, design, likelihood = problem.usable, problem.table, Binomial()
    top = audited_columns(problem, inclusion, _AUDITED)
    rest = np.setdiff1d(np.flatnonzero(mean), top)
    fixed, held = fixed_columns(problem)
    columns = np.vstack([fixed.T, design.block(top, projected=False).T])
    samples = Samples(
        np.ascontiguousarray(columns),
        labels,
        problem.weights,
        problem.known_part + design.dot(rest, mean[rest][:, None])[:, 0],
        np.append(held, np.full(len(top), 1.0 / variance)),
    )
    table = make_table(likelihood, samples, len(held), np.inf, True)
    prior = beliefs.inclusion
    # Those outside count by their expected number in the prior on sizes.
    outside = round(float(inclusion[usable].sum() - inclusion[top].sum()))
    by_size = prior.by_size[outside : outside + len(top) + 1]
    odds = prior.log_odds[np.searchsorted(usable, top)]
    exact = fit_all_models(likelihood, table, 0.0, by_size, odds)
    return Audit(top, inclusion[top], exact.inclusion, "Laplace's sums over their models")
