"""Several responses at once: what regressors do with a matrix y, whose columns share variables."""
