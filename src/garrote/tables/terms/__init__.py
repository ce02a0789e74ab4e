"""Columns made of columns: interactions, curves and formulas, and how to make them again of new rows."""
