"""Budgets: how large numbers may be, how much memory is free, what a fit will cost."""
