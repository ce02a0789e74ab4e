"""Counts and positive numbers, whose mean is exp(eta): an effect multiplies it."""
