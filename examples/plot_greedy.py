"""
Greedy searches and Breiman's garrote
=====================================

The best model of a given size, with effects that nothing shrinks: orthogonal matching pursuit takes
variables in one by one, splicing exchanges them until no exchange is worth it. Breiman's garrote shrinks
a first fit, each coefficient by a factor of its own.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import GreedyRegressor, NonNegativeGarrote
from garrote.datasets import make_sparse_regression

# %%
# A hundred rows, thirty variables, five of them with an effect. The size is chosen by the extended
# Bayesian information criterion.

data = make_sparse_regression(n_samples=100, n_features=30, n_informative=5, random_state=3)
splicing = GreedyRegressor("splicing").fit(data.X, data.y)
print(splicing.summary())

# %%
# Least squares, and what the garrote makes of it: small coefficients are dropped, large ones hardly
# change. The true effects are crosses.

garrote = NonNegativeGarrote("ols").fit(data.X, data.y)
centred = data.X - data.X.mean(axis=0)
squares = np.linalg.lstsq(centred, data.y - data.y.mean(), rcond=None)[0]
figure, axis = plt.subplots(layout="constrained")
places = np.arange(30)
axis.plot(places, squares, "o", mfc="none", color="0.6", label="least squares")
axis.plot(places, garrote.coef_, ".", label="garrote")
axis.plot(places, data.coef, "x", color="0.2", markersize=5, label="truth")
axis.set(xlabel="variable", ylabel="effect")
axis.legend(frameon=False)
plt.show()
