"""Proximal operators of penalties that tie many coefficients together by their order."""
