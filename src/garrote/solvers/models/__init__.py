"""Posteriors over models: enumeration, search, and walks from model to model."""
