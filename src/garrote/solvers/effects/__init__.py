"""Sums of single effects."""
