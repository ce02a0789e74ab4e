"""Posteriors over sets of groups of columns, found in coordinates that no coding of levels changes."""
