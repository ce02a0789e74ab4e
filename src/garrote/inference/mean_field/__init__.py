"""Posteriors whose variables are independent, and mixtures of such."""
