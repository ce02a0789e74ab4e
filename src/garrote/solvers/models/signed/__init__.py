"""Models whose coefficients have signs, under slabs of two humps: signs summed over, or walked along."""
