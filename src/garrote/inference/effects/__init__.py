"""Posteriors of sums of single effects."""
