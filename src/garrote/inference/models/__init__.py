"""Posteriors that are sums over models, exact, searched or sampled."""
