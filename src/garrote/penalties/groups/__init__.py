"""Penalties of groups of columns, and which columns belong together."""
