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
    Gibbs,
    MeanField,
    Method,
    Metropolis,
    Sample,
    Search,
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
    "Gibbs",
    "Inferred",
    "MeanField",
    "Method",
    "Metropolis",
    "Paired",
    "Sample",
    "Search",
    "anneal_paired",
    "as_method",
    "choose_method",
    "fit_paired",
    "infer",
    "paired_path",
]
