"""From the settings of a Bayesian estimator to a prior and a method, and what to say of the answer."""

from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.estimators.registry import BIC_REFERENCE, LABEL_REFERENCES, NUMBER_REFERENCES
from garrote.inference import Inferred, Method
from garrote.penalties.groups.grouping import resolve_groups
from garrote.priors import Prior
from garrote.problem import Problem
from garrote.results.certificates import ALL_MODELS, DRAWS, FITTED, MONTE_CARLO, SEARCH
from garrote.rules.integration import Integration

# Monte Carlo errors beyond this are worth a warning.
_UNSETTLED = 0.1
# How to hold the slab's variance at a number.
_VARIANCE = "the prior a variance, as in prior=GaussianSlab(1.0) or EffectSlab(1.0)"


def with_groups(prior: Prior, count: int, names: Array | None, X: Any) -> Prior:
    """Return a prior with its groups, where it has any, as numbers: one a column."""
    return prior.with_groups(lambda groups: resolve_groups(groups, count, names, X))


def make_inclusion(law: Any, problem: Problem, offsets: Floats) -> Any:
    """Return the prior on models of the usable columns, or on sets of groups of them."""
    return law.over(problem.usable, problem.n_features, offsets[problem.usable])


def seed_of(random_state: Any) -> Any:
    """Return a random state of any of scikit-learn's kinds as a seed."""
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    return random_state


def repeatable_seed(random_state: Any) -> Any:
    """Return a random state as a seed; None is 0, so that a fit can be repeated."""
    seed = seed_of(random_state)
    return 0 if seed is None else seed


def source_of(prior: Prior, integration: Integration, method: str) -> str | None:
    """Return the source of what was done; None for that of the estimator."""
    if prior.reference is not None:
        labels = integration is Integration.POLYA_GAMMA and method in LABEL_REFERENCES
        return f"{prior.reference}; {LABEL_REFERENCES[method]}" if labels else prior.reference
    if integration is Integration.CLOSED_FORM:
        return NUMBER_REFERENCES.get(method)
    return LABEL_REFERENCES[method] if prior.integrated else BIC_REFERENCE


def doubt_of(inferred: Inferred, method: Method) -> str | None:
    """Return what to say of an answer that is known too roughly; None if it is known well."""
    certificate, steps = inferred.certificate, inferred.steps
    if certificate.value > _UNSETTLED and certificate.kind in _ROUGH:
        return _ROUGH[certificate.kind].format(
            parts=_listing(certificate.parts), value=certificate.value, steps=steps,
            chains=getattr(method, "n_chains", 1), variance=_VARIANCE,
        )  # fmt: skip
    if inferred.converged:
        return None
    if certificate.kind == DRAWS:
        return (
            f"sampled coefficients may be off by {certificate.value:.2f} of their posterior "
            f"deviations, and split R-hat is {1.0 + certificate['halves of chains']:.2f} (1 if chains "
            f"agree): raise n_steps ({steps}) and burn_in"
        )
    remedy = method.remedy or f"give {_VARIANCE}, or an inclusion, or use method='sample'"
    return (
        f"some solutions of method={inferred.method!r} did not settle; the certificate of the best one "
        f"is {certificate.value:.1e}: {remedy}"
    )


# What to say where the certificate of a kind is too large.
_ROUGH = {
    SEARCH: "the search has not found enough: {parts}; raise n_steps ({steps}), or use method='sample'",
    ALL_MODELS: "sums over models are off: {parts}; columns may be copies of each other beside an "
    "effect that leaves next to no noise: leave copies out, or give {variance}",
    FITTED: "fits of models, started afresh, differ: {parts}; rows may weigh too much for logs of "
    "likelihoods to have digits left: lower sample_weight, or give {variance}",
    MONTE_CARLO: "sampled inclusion probabilities may be off by {value:.2f}: raise n_steps ({steps}) or "
    "n_chains ({chains})",
}


def _listing(parts: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.2g}" for name, value in parts.items())
