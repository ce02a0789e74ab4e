"""Signals of which entries may be missing, checked before any work."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from garrote.arrays import Array, Floats
from garrote.coding.signals import signal_weights
from garrote.estimators.given.frames import refuse_text_columns
from garrote.estimators.given.inputs import refuse_repeated_names, with_place
from garrote.limits.magnitudes import refuse_large

_FILL = "NaN stands for a missing entry; other entries have to be finite."


class Incomplete(NamedTuple):
    """Signals in double precision, 0 where an entry is missing; and which entries were seen."""

    values: Floats
    seen: Array

    @property
    def scale(self) -> float:
        """The root mean square of the entries that were seen, 1 if all are 0."""
        square = float(np.einsum("ij,ij->", self.values, self.values)) / max(self.seen.sum(), 1)
        return float(np.sqrt(square)) or 1.0


def check_incomplete(estimator: Any, X: Any, *, reset: bool) -> Incomplete:
    """Return signals, in which NaN says that an entry is missing; refuse others."""
    refuse_repeated_names(X)
    refuse_text_columns(X, None)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            checked = validate_data(
                estimator, X, dtype=[np.float64, np.float32], reset=reset,
                ensure_all_finite="allow-nan",
            )  # fmt: skip
    except ValueError as error:
        raise with_place(error, X, None, _FILL) from None
    seen = ~np.isnan(checked)
    if reset and not seen.any():
        raise ValueError("every entry of X is missing: nothing can be learned from that")
    values = np.where(seen, checked, 0.0).astype(np.float64, order="C")
    refuse_large(values, "X", getattr(estimator, "feature_names_in_", None))
    return Incomplete(values, np.ascontiguousarray(seen))


def seen_weights(sample_weight: Any, signals: Incomplete) -> Floats:
    """Return a weight for each signal, some of which has to have an entry that was seen."""
    weights = signal_weights(sample_weight, signals.values)
    if not signals.seen[weights > 0].any():
        raise ValueError("every entry of the signals that have weight is missing")
    return weights
