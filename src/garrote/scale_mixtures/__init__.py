"""Coefficients that are normal with variances of their own: the laws of these, and draws from them."""
