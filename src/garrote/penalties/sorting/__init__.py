"""Penalties of sorted coefficients: each is charged by its rank among all."""
