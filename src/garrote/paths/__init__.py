"""From a problem to fits over a grid of strengths."""
