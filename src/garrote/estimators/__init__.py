"""The scikit-learn face."""

from garrote.estimators.variational_garrote import VariationalGarrote

__all__ = ["VariationalGarrote"]
