"""Knockoffs: a copy of every column that only the response can tell from the original."""
