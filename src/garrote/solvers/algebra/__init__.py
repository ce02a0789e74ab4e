"""Factors, cross products and Gaussian draws, kept up to date as columns come and go."""
