"""A quadratic plus a penalty: coordinate sweeps, Newton's method, and how good the result is."""
