"""
Relevance determination
=======================

Every coefficient has a prior variance of its own, which the evidence sets: most of them to 0. With a
column for each row, by a kernel, the same is the relevance vector machine.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import RelevanceRegressor, RelevanceVectorRegressor
from garrote.datasets import make_sparse_regression

# %%
# Eighty rows, forty variables, four of them with an effect. More are in than matter: of columns of pure
# noise about a third stay, with small coefficients. Selected is what has an interval without 0.

data = make_sparse_regression(n_samples=80, n_features=40, n_informative=4, random_state=1)
model = RelevanceRegressor().fit(data.X, data.y)
print(model.summary())
print(np.count_nonzero(model.coef_), "of 40 variances are above 0")

# %%
# A curve from a hundred noisy points: the circles are the rows that the machine needs, the band is one
# standard deviation of a new response to either side.

rng = np.random.default_rng(0)
x = np.linspace(-5, 5, 100)[:, None]
y = np.sinc(x[:, 0]) + 0.1 * rng.standard_normal(100)
machine = RelevanceVectorRegressor(gamma=0.5).fit(x, y)
mean, deviation = machine.predict(x, return_std=True)
figure, axis = plt.subplots(layout="constrained")
axis.plot(x, y, ".", color="0.6")
axis.plot(x, mean)
axis.fill_between(x[:, 0], mean - deviation, mean + deviation, alpha=0.2)
kept = machine.relevance_
axis.plot(x[kept], y[kept], "o", mfc="none", color="C1", label=f"{len(kept)} relevance vectors")
axis.legend(frameon=False)
plt.show()
