"""Paths of penalised fits on working sets; ridge, homotopy, groups, fusion and best subsets."""
