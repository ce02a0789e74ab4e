"""Penalties on differences between neighbours."""
