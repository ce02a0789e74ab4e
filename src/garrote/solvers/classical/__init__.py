"""The solvers of the textbooks: proximal gradients, EM, iterated ridge, subgradients."""
