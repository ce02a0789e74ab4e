"""Enrichment: by how much annotations of variables raise their odds of being in."""

from dataclasses import dataclass

import numpy as np

from garrote.arrays import Floats
from garrote.summaries import Shown, Table

# Annotations that are told of in one sentence.
_TOLD = 6


@dataclass(frozen=True, repr=False)
class Enrichment(Shown):
    """What a unit of each annotation adds to the log odds of inclusion.

    Attributes
    ----------
    labels : tuple of str
    estimate : array of shape (A,)
        The mode, with all else that is learned.
    standard_error : array of shape (A,)
    lower, upper : array of shape (A,)
        Intervals of 95 %, from draws.
    positive : array of shape (A,)
        The probability that there is an enrichment, and no depletion.
    base : float
        The log odds of a variable whose annotations are all 0.
    off : float
        How far the slope of the log posterior is from 0, in standard errors: its certificate.
    effective : float
        How many draws of sets the intervals rest on, at least.
    rounds : int
    """

    labels: tuple[str, ...]
    estimate: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats
    positive: Floats
    base: float
    off: float
    effective: float
    rounds: int

    def table(self) -> Table:
        """Return a row for each annotation, with what multiplies the odds."""
        return Table(
            {
                "annotation": list(self.labels),
                "log odds ratio": self.estimate.tolist(),
                "standard error": self.standard_error.tolist(),
                "lower": self.lower.tolist(),
                "upper": self.upper.tolist(),
                "odds ratio": np.exp(self.estimate).tolist(),
                "probability above 0": self.positive.tolist(),
            }
        )

    def __str__(self) -> str:
        told = [
            f"{label} {b:+.2g} [{low:.2g}, {high:.2g}]"
            for label, b, low, high in zip(
                self.labels, self.estimate, self.lower, self.upper, strict=True
            )
        ]
        more = f" and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
        return (
            "annotations add to the log odds of inclusion, learned by EM with intervals of 95 %: "
            f"{', '.join(told[:_TOLD])}{more}"
        )
