"""Estimators that search among subsets of columns: the greedy regressor and classifier."""
