"""Figures and tables of Variational Optimization, made again: lassos and margins by smoothing."""
