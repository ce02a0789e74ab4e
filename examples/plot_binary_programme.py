"""
Switches that cool down
=======================

A quadratic function of switches, x'Ax + b'x with each x_i 0 or 1. Its mean over independent switches
is smooth in their probabilities and never above the maximum; a relaxation is never below it.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote.binary import BinaryProgramme, maximise_binary

# %%
# Sixty switches, every pair coupled at random. As beta grows, one probability after the other becomes
# 1 / (1 + exp(-beta slope)), which minimises the free energy given all others.

rng = np.random.default_rng(0)
A = rng.standard_normal((60, 60))
programme = BinaryProgramme(A + A.T, rng.standard_normal(60))
betas, theta, path = np.geomspace(0.01, 3.0, 120), np.full(60, 0.5), []
for beta in betas:
    for i in range(60):
        theta[i] = 1 / (1 + np.exp(-beta * programme.slope(theta)[i]))
    path.append(theta.copy())

# %%
# The best of fifty such starts, and the relaxation: the maximum is between them. Branching proves it.

relaxed = maximise_binary(programme.A, programme.b, bound="semidefinite", random_state=0)
found = maximise_binary(programme.A, programme.b, random_state=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.semilogx(betas, path, color="0.6", linewidth=0.6)
left.set(xlabel="beta", ylabel="probabilities")
right.semilogx(betas, [programme.mean(point) for point in path], label="mean")
right.axhline(found.value, color="C2", linewidth=1, label="best found, proved")
right.axhline(relaxed.upper_bound, color="C1", linewidth=1, linestyle="--", label="relaxation")
right.set_xlabel("beta")
right.legend(frameon=False, loc="lower right")
plt.show()
