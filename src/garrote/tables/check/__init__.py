"""A look at a table before the fit: types, gaps, identifiers, leaks and what the target is, at once."""
