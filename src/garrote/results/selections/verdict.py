"""What a method says of the variables, and what it tells of its way there: two parts of a Selection.

Their fields are described in `garrote.results.selections.selection.Selection`, which derives from both.
"""

from dataclasses import dataclass
from typing import Any

from garrote.arrays import Array, Floats
from garrote.results.certificates import Certificate
from garrote.results.credible_sets import CredibleSet
from garrote.results.selections.views import (
    ClassEffects,
    ModelsView,
    PathView,
    Predictions,
    Validation,
)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is selected, with evidence, effect and interval of each variable, and the rule in words."""

    selected: Array
    probability: Floats
    effect: Floats
    standard_error: Floats
    lower: Floats
    upper: Floats
    evidence: str
    intervals: str
    rule: str
    by_class: ClassEffects | None = None


@dataclass(frozen=True, kw_only=True)
class Account:
    """What only the method itself knows: how it is called, how good the fit is, and what to show."""

    method: str
    response: str
    noise_variance: float
    certificate: Certificate
    converged: bool
    provenance: dict[str, Any]
    path: PathView | None = None
    validation: Validation | None = None
    predictions: Predictions | None = None
    models: ModelsView | None = None
    pieces: int | None = None
    credible_sets: tuple[CredibleSet, ...] = ()
