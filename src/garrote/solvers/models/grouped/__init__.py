"""Models whose variables are groups of columns: all sets of groups summed over, or walked along."""
