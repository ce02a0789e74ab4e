"""Posteriors of relevance determination: variances by the evidence, coefficients given these."""
