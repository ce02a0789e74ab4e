"""Many responses over one table: a posterior for each, in windows of the columns, kept in one file."""

from garrote.many.fitting import ManyFits, fit_many

__all__ = ["ManyFits", "fit_many"]
