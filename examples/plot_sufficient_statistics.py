"""
Without the rows
================

X'X, X'y, y'y and the number of rows hold all that a linear regression uses of the data. Where rows
cannot be shared, or lie in several places, these can: cross products of parts that are centred by a
common mean add up.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import Problem, fit_path
from garrote.datasets import make_sparse_regression

data = make_sparse_regression(2000, 300, 5, correlation=0.5, snr=0.1, random_state=0)
X, y = data.X - data.X.mean(axis=0), data.y - data.y.mean()
parts = np.array_split(np.arange(2000), 4)  # four hospitals

gram = sum(X[rows].T @ X[rows] for rows in parts)
xty = sum(X[rows].T @ y[rows] for rows in parts)
yty = sum(y[rows] @ y[rows] for rows in parts)
path = fit_path(Problem.from_moments(gram, xty, yty, n=2000))
print(path)

# %%
# There are no rows to hold out, so gamma is what one believes: here, five variables of 300. At
# these odds a variable comes in at about sqrt(-2 gamma) = 2.9 standard errors, which one of 295
# idle ones may reach by chance.
gamma = np.log(5 / 295)
k = np.abs(path.strengths - gamma).argmin()
found = path.inclusion_probability()[k].toarray().ravel() > 0.5
print("found", np.flatnonzero(found), "true", np.flatnonzero(data.coef))

# %%
probability = path.inclusion_probability().toarray()
plt.plot(path.strengths, probability, color="0.7")
plt.plot(path.strengths, probability[:, data.coef != 0], color="C0")
plt.gca().set(xlabel="gamma", ylabel="inclusion probability; blue: true variables")
