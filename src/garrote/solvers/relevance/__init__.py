"""Relevance determination: variances of coefficients that maximise the evidence."""
