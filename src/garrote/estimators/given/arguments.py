"""What `fit` is called with, before it is checked."""

from typing import Any, NamedTuple, Self

from garrote.designs.devices.arrays import to_host


class Arguments(NamedTuple):
    """The arguments of `fit`, see `garrote.estimators.shared.selectors.SelectingEstimator`."""

    X: Any
    y: Any
    sample_weight: Any
    offset: Any
    groups: Any
    feature_names: Any

    @classmethod
    def of(
        cls, X: Any, y: Any, sample_weight: Any, offset: Any, groups: Any, feature_names: Any
    ) -> Self:
        """Take arguments of whatever library, on whatever device: but for X they come to NumPy."""
        weights, shift, members = to_host(sample_weight), to_host(offset), to_host(groups)
        return cls(X, to_host(y), weights, shift, members, feature_names)
