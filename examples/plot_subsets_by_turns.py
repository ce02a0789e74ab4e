"""
Best subsets, by turns
======================

Which columns a regression should have is a quadratic function of switches where coefficients are known.
Columns that are in have least squares, each other what it would have if it came in alone.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import Problem, fit_path
from garrote.binary import maximise_binary, subset_programme
from garrote.datasets import make_sparse_regression
from garrote.penalties import BestSubset

data = make_sparse_regression(60, 20, 5, correlation=0.8, snr=2.0, random_state=5)
problem, price = Problem.from_rows(data.X, data.y, scale_response=False), 0.1
gram, objectives = problem.known_block(np.arange(20)), []
for inside in (np.zeros(20, bool), np.ones(20, bool)):
    turns = []
    while len(turns) < 2 or turns[-1] < turns[-2] - 1e-12:
        coef = np.zeros(20)
        coef[inside] = np.linalg.solve(gram[np.ix_(inside, inside)], problem.xty[inside])
        squared = problem.yty - problem.xty @ coef
        turns.append(squared / (2 * problem.n) + price * np.count_nonzero(inside))
        alone = (problem.xty - gram @ coef) / problem.curvature
        turn = subset_programme(problem, np.where(inside, coef, alone), price)
        inside = maximise_binary(turn.A, turn.b, random_state=0).x.astype(bool)
    objectives.append(turns)

# %%
# No turn makes the objective larger; where it ends depends on where it begins.

exact = fit_path(problem, BestSubset(), [price]).fits[0]
for turns, start in zip(objectives, ("no column", "all columns"), strict=True):
    plt.plot(turns, "o-", label=f"from {start}")
plt.axhline(exact.loss + price * len(exact.columns), color="0.6", label="best subset")
plt.gca().set(xlabel="turn", ylabel="half mean squared error + price", xticks=[0, 1, 2])
plt.legend(frameon=False)
