"""Posteriors over models and coefficients: `infer` picks the solver."""

from garrote.inference.beliefs import Beliefs
from garrote.inference.choosing import Inferred, infer
from garrote.inference.generalized import infer_generalized
from garrote.inference.labels import infer_labels
from garrote.inference.mean_field.paired_mean_field import (
    Paired,
    anneal_paired,
    fit_paired,
    paired_path,
)
from garrote.inference.sampling import Chains
from garrote.inference.shrinkage import infer_shrinkage

__all__ = [
    "Beliefs",
    "Chains",
    "Inferred",
    "Paired",
    "anneal_paired",
    "fit_paired",
    "infer",
    "infer_generalized",
    "infer_labels",
    "infer_shrinkage",
    "paired_path",
]
