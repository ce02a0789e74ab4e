"""Posteriors of several responses that share which variables are in."""
