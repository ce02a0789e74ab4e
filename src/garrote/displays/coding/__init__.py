"""Pictures of dictionaries: atoms as a mosaic, codes, and the objective along rounds of learning."""
