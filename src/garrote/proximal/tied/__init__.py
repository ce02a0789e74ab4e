"""Proximal operators of penalties that tie coefficients by their order: sorted sizes, and trends."""
