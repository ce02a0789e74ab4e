"""Posteriors of labels under priors that shrink, by Polya-Gamma Gibbs sampling."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import expit

from garrote.arrays import Array, Floats
from garrote.inference.glm_models import make_fitting, refuse_dense
from garrote.inference.methods import Gibbs
from garrote.inference.models.fitted_posterior import FittingTask
from garrote.inference.models.label_sampling import labelled_rows
from garrote.inference.sampling import run_chains
from garrote.inference.shrinkage import (
    LENGTHS,
    DrawsFound,
    check_time,
    inferred_from,
    keep_every,
)
from garrote.inference.task import Inferred, Task
from garrote.priors.slab import EffectSlab
from garrote.solvers.diagnostics import diagnose_draws
from garrote.solvers.labels.logistic_draws import LabelledRows
from garrote.solvers.shrinkage.columns_of_a_draw import NeededColumns, needed_columns
from garrote.solvers.shrinkage.label_gibbs import (
    INFORMATION,
    LabelChain,
    WeighedLabels,
    run_label_shrinkage,
)
from garrote.solvers.shrinkage.swap_moves import similar_pairs


def gibbs_label_shrinkage(task: Task, method: Gibbs) -> Inferred:
    """Find the posterior of labels under a shrinkage prior."""
    problem, beliefs = task.problem, task.beliefs
    if beliefs.prior.noise_variance is not None:
        raise ValueError(f"labels have no noise: leave out noise_variance, got {beliefs.prior!r}")
    refuse_dense(
        problem,
        f"method={method.name!r}",
        "use SpikeSlabClassifier(method='mean-field'), or screen",
    )
    chains = method.chains(*LENGTHS, task.seed)
    check_time(problem, chains, by_columns=True)
    kept, report = keep_every(chains, task.usable), task.reporter("sampling")
    # The slab has no part in the columns, which is all that is asked of this.
    fitting = make_fitting(problem, replace(beliefs, prior=EffectSlab(1.0)))
    rows = labelled_rows(fitting)
    rows = rows._replace(columns=rows.columns[problem.usable])
    prior, information = beliefs.prior.among(problem.usable), INFORMATION * beliefs.n
    pairs = similar_pairs(WeighedLabels.of(rows, INFORMATION * rows.weights).form)

    def run(rng: np.random.Generator, start: Sequence[int]) -> LabelChain:
        return run_label_shrinkage(
            rows, prior, information, pairs, rng, chains.steps, chains.burn_in, kept, report
        )

    runs = run_chains(run, chains, task.n_jobs)
    found = _joined(fitting, runs)
    return inferred_from(task, method, chains, kept, found, _used(rows, runs, beliefs.n))


def _joined(fitting: FittingTask, runs: Sequence[LabelChain]) -> DrawsFound:
    """Join chains, in the user's units."""
    problem, scale = fitting.problem, fitting.problem.scale
    covariates: Array = fitting.places[: len(fitting.places) - len(problem.usable)]
    known = np.array(
        [np.column_stack([r.states.coef, r.fixed, np.log(r.states.scale)]) for r in runs]
    )
    inside = np.concatenate([run.states.coef for run in runs])
    fixed = np.concatenate([run.fixed for run in runs])
    first = fixed.shape[1] - len(covariates)
    coef = np.zeros((len(inside), problem.n_features))
    coef[:, problem.usable] = inside / scale.column_scale[problem.usable]
    coef[:, covariates] = fixed[:, first:] / scale.column_scale[covariates]
    level = (fixed[:, 0] if first else 0.0) - coef @ scale.column_mean
    return DrawsFound(
        coef,
        np.full(len(coef), np.nan),
        np.concatenate([run.states.scale for run in runs]),
        np.mean([run.states.shrinkage for run in runs], axis=0),
        diagnose_draws(known),
        level if first else np.zeros(len(coef)),
    )


def _used(rows: LabelledRows, runs: Sequence[LabelChain], n: float) -> NeededColumns:
    """Return the columns that draws use, in the regression that the mean log odds stand for."""
    coef = np.concatenate([run.states.coef for run in runs])
    level = np.concatenate([run.fixed for run in runs]).mean(axis=0)
    eta = rows.offset + level @ rows.fixed + coef.mean(axis=0) @ rows.columns
    omega: Floats = rows.weights * np.maximum(expit(eta) * expit(-eta), 1e-12)
    return needed_columns(WeighedLabels.of(rows, omega).form, coef, np.ones(len(coef)), n)
