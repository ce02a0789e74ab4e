"""What sparse means to an optimiser: penalties of one coefficient at a time."""

from garrote.penalties.base import Penalty, Terms
from garrote.penalties.elastic_net import L1, ElasticNet, Ridge
from garrote.penalties.fixed_ridge import L1WithRidge

# Penalties by the name that users know them by, with default settings.
PENALTIES = {
    "lasso": L1,
    "l1": L1,
    "elastic-net": ElasticNet,
    "ridge": Ridge,
}

__all__ = ["L1", "PENALTIES", "ElasticNet", "L1WithRidge", "Penalty", "Ridge", "Terms"]
