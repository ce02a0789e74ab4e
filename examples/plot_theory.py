"""
When two solutions coexist
==========================

With orthogonal columns the Variational Garrote can be written down. A strong variable under strong
sparsity has two stable states, in and out, and which one is found depends on where one comes from:
that is the hysteresis which annealing and reheating deal with.
"""

from garrote.displays import PhaseDisplay, ShrinkageDisplay
from garrote.orthogonal import critical_point, univariate_solutions

rho, gamma = critical_point(n_samples=100)
print(f"two solutions need rho > {rho:.3f} and gamma < {gamma:.1f}")
print(univariate_solutions(rho=0.5, gamma=-35, n_samples=100).probability)

# %%
# The phase plot (Kappen & Gómez 2014, Fig. 1): both states exist between the two lines.
PhaseDisplay.from_theory(n_samples=100)

# %%
# What becomes of a least squares estimate (their Fig. 2): the lasso moves every estimate towards
# zero, the garrote leaves large ones alone and removes small ones.
ShrinkageDisplay.from_theory()
