"""Figures and tables of Murphy's chapter on sparse linear models, made again."""
