"""The scikit-learn face of garrote."""

from garrote.estimators.bayesian_selector import BayesianSelector
from garrote.estimators.variational_garrote import VariationalGarrote

__all__ = ["BayesianSelector", "VariationalGarrote"]
