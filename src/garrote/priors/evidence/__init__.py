"""Marginal likelihoods of models as scalar rules: in closed form, with an unknown g, with signs."""

from garrote.priors.evidence.closed_forms import (
    SMALLEST_LEFT,
    FixedG,
    KnownNoise,
    Peak,
    UnknownNoise,
    add_evidences,
    fill_moments,
    has_signs,
    log_evidence,
    log_evidence_ratio,
    noise_floor,
    noise_mean,
    slab_moments,
)

__all__ = [
    "SMALLEST_LEFT",
    "FixedG",
    "KnownNoise",
    "Peak",
    "UnknownNoise",
    "add_evidences",
    "fill_moments",
    "has_signs",
    "log_evidence",
    "log_evidence_ratio",
    "noise_floor",
    "noise_mean",
    "slab_moments",
]
