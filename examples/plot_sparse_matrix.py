"""
A sparse matrix, left sparse
============================

Counts of words, one-hot codes and rare variants are mostly zeros. The table is centred and scaled
inside without ever being filled in: this one would take 480 MB as an array, and has 4 MB of
entries.
"""

import numpy as np
import scipy.sparse

from garrote import VariationalGarrote
from garrote.displays import PathDisplay
from garrote.paths import Anneal

rng = np.random.default_rng(0)
X = scipy.sparse.random_array((3000, 20_000), density=0.005, rng=rng, format="csc")
true = [10, 200, 3000]
y = X[:, true] @ np.array([3.0, -2.0, 2.0]) + 0.1 * rng.standard_normal(3000)

words = [f"word {j}" for j in range(X.shape[1])]
model = VariationalGarrote(method=Anneal(gammas=25)).fit(X, y, feature_names=words)
model.summary()

# %%
PathDisplay.from_estimator(model)
