"""Posteriors over models and coefficients: `infer` picks the solver."""

from garrote.inference.beliefs import Beliefs
from garrote.inference.choosing import choose_method, infer
from garrote.inference.mean_field.paired_mean_field import (
    Paired,
    anneal_paired,
    fit_paired,
    paired_path,
)
from garrote.inference.methods import (
    EM,
    METHODS,
    Auto,
    BayesianMatchingPursuit,
    EffectByEffect,
    Enumerate,
    FixedPoint,
    Gibbs,
    MeanField,
    Method,
    Metropolis,
    ReweightedL1,
    Sample,
    Search,
    Sequential,
    as_method,
)
from garrote.inference.task import Inferred

__all__ = [
    "EM",
    "METHODS",
    "Auto",
    "BayesianMatchingPursuit",
    "Beliefs",
    "EffectByEffect",
    "Enumerate",
    "FixedPoint",
    "Gibbs",
    "Inferred",
    "MeanField",
    "Method",
    "Metropolis",
    "Paired",
    "ReweightedL1",
    "Sample",
    "Search",
    "Sequential",
    "anneal_paired",
    "as_method",
    "choose_method",
    "fit_paired",
    "infer",
    "paired_path",
]
