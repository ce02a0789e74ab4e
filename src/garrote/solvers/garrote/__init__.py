"""The variational garrote: annealing, relaxation, its parallel solvers, starts and certificate."""
