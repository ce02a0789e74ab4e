"""Best subsets, greedy searches and pursuits: published numbers and claims, run again."""
