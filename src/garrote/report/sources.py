"""What to cite, and what the words of a method mean, by the method's own names for them."""

from collections.abc import Mapping
from typing import Any

from garrote.estimators.registry import METHODS

_STRENGTHS = {
    "gamma": (
        "prior log odds of inclusion",
        "gamma is the prior log odds that a variable is in the model: the further to the right, the "
        "more variables come in.",
    ),
}

_CERTIFICATE = {
    "inclusion": "how far any variable's probability is from the one that the data and all "
    "other variables imply for it",
    "weight": "how far any weight is from the one that the data and all other variables imply, "
    "in standard errors",
    "noise": "how far the noise variance is from the one that the residuals imply, relative to it",
}


def citation(document: Mapping[str, Any]) -> str | None:
    """Return the source of the method: what came with the selection, or what its name tells."""
    stated = document["provenance"].get("reference")
    if isinstance(stated, str) and stated:
        return stated
    titles = {method.title: method.reference for method in METHODS.values()}
    return titles.get(document["method"])


def own_citation(version: str) -> str:
    """Return how to cite this library."""
    return f"garrote {version}: sparse linear models and Bayesian variable selection in Python."


def strength_words(strength: str) -> tuple[str, str]:
    """Return what a strength is, in a few words for an axis and in a sentence."""
    return _STRENGTHS.get(strength, ("", f"{strength} is the strength of the selection."))


def certificate_words(part: str) -> str:
    """Return what a part of the certificate measures."""
    return _CERTIFICATE.get(part, "how far the answer is from its own equations")
