"""Figures and tables of the Variational Garrote, made again."""
