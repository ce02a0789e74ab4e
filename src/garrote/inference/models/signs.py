"""What differs where coefficients have signs, as under a slab of two humps: one table of two rows."""

from collections.abc import Callable
from typing import Any, NamedTuple

from garrote.priors.base import Prior
from garrote.solvers.labels.humped_gibbs import HumpedLogisticWalk
from garrote.solvers.labels.logistic_gibbs import LogisticGibbsWalk
from garrote.solvers.models.enumeration import enumerate_models
from garrote.solvers.models.informed_sampler import InformedWalk
from garrote.solvers.models.metropolis import MetropolisWalk
from garrote.solvers.models.model_chain import Walk
from garrote.solvers.models.paired_gibbs import PairedGibbsWalk
from garrote.solvers.models.signed.signed_enumeration import enumerate_signed
from garrote.solvers.models.signed.signed_gibbs import SignedGibbsWalk
from garrote.solvers.models.signed.signed_metropolis import SignedMetropolisWalk
from garrote.solvers.models.signed.signed_walk import SignedWalk


class ModelWays(NamedTuple):
    """How models are summed, walked along and audited.

    ``enumerate`` sums over all models, ``walks`` go from one to another by the names of methods,
    ``label_walk`` does for labels. Up to ``few`` columns "auto" enumerates; ``audited`` are those whose
    models an audit sums. ``fits_labels`` tells whether a model of labels has one mode, around which it
    is fitted.
    """

    enumerate: Callable[..., Any]
    walks: dict[str, Callable[..., Walk]]
    label_walk: Callable[..., Any]
    few: int
    audited: int
    fits_labels: bool
    has_signs: bool


_WITHOUT_SIGNS = ModelWays(
    enumerate=enumerate_models,
    walks={"sample": InformedWalk, "metropolis": MetropolisWalk, "gibbs": PairedGibbsWalk},
    label_walk=LogisticGibbsWalk,
    few=15,  # a fraction of a second for each slab variance
    audited=14,
    fits_labels=True,
    has_signs=False,
)
# Each model has as many signs as variables: fewer columns have as many sums.
_WITH_SIGNS = ModelWays(
    enumerate=enumerate_signed,
    walks={"sample": SignedWalk, "metropolis": SignedMetropolisWalk, "gibbs": SignedGibbsWalk},
    label_walk=HumpedLogisticWalk,
    few=10,
    audited=7,
    fits_labels=False,
    has_signs=True,
)


def ways_under(prior: Prior) -> ModelWays:
    """Return how models are summed and walked along under a prior."""
    return _WITH_SIGNS if prior.has_humps else _WITHOUT_SIGNS
