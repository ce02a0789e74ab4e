"""Working sets of penalties that tie coefficients by their order: ties are split and merged."""
