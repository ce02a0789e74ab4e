"""Posteriors by expectation-maximisation."""
