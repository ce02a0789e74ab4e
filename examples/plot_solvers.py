"""
Classical solvers of the lasso
==============================
The duality gap after so many passes over X: columns are counted as they are read.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import Problem, fit_path
from garrote.datasets import make_sparse_regression
from garrote.designs import DenseDesign
from garrote.penalties import L1
from garrote.solvers.classical.path import CLASSICAL_SOLVERS
from garrote.solvers.control import Control


class Counting(DenseDesign):
    def dot(self, columns, coef):
        self.passes += len(columns) / self.shape[1]
        return super().dot(columns, coef)

    def tdot(self, rows):
        self.passes += 1
        return super().tdot(rows)


data = make_sparse_regression(100, 400, 10, correlation=0.5, random_state=0)
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
for name in CLASSICAL_SOLVERS:
    passes, gaps = [], []
    for tol in np.geomspace(0.1, 1e-9, 9):
        X = Counting(np.asfortranarray(data.X))
        X.passes = -1.0  # the first is the problem's own
        problem = Problem.from_rows(X, data.y)
        path = fit_path(problem, L1(), [0.2], solver=name, control=Control(tol, 2000))
        passes, gaps = [*passes, X.passes], [*gaps, path.certificate[0]]
    ax.loglog(passes, gaps, ".-", label=f"{name}: {gaps[-1]:.0e} after {passes[-1]:.0f}")
ax.set(xlabel="passes over X", ylabel="duality gap")
ax.legend(frameon=False, bbox_to_anchor=(1, 1))
