"""Drawings of Murphy's chapter that say why coefficients are 0, with their points computed."""
