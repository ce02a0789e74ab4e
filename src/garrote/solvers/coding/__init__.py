"""Many signals over one dictionary, by its Gram matrix, a block of signals at a time."""
