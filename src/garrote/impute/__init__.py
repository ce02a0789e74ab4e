"""Missing values filled in several times over, and the posteriors of all fillings pooled."""

from garrote.impute.filling import completed_tables
from garrote.impute.pooling import pool

__all__ = ["completed_tables", "pool"]
