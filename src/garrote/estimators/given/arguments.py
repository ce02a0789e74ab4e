"""What `fit` is called with, before it is checked."""

from typing import Any, NamedTuple


class Arguments(NamedTuple):
    """The arguments of `fit`, see `garrote.estimators.shared.selectors.SelectingEstimator`."""

    X: Any
    y: Any
    sample_weight: Any
    offset: Any
    groups: Any
    feature_names: Any
