"""The smooth part of a problem: least squares, other likelihoods, several responses or classes."""
