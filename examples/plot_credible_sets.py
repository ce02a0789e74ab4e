"""
One of which? Credible sets of single effects
=============================================

Three hundred columns in blocks of ten that nearly repeat each other, as genetic variants do.
Three of them matter. No data of this kind tell which column of a block it is; they do tell the block.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import SingleEffectsRegressor

rng = np.random.default_rng(1)
blocks = np.repeat(rng.standard_normal((200, 30)), 10, axis=1)
X = blocks + 0.2 * rng.standard_normal(blocks.shape)
y = 0.5 * X[:, 42] - 0.5 * X[:, 131] + 0.4 * X[:, 250] + rng.standard_normal(200)
model = SingleEffectsRegressor().fit(X, y)
model.summary()

# %%
# Each set holds one of the columns that matter, and says how much alike its members are.
print(model.selection_.sets_table())

# %%
# The probability of an effect is shared among the columns that could have it.
figure, ax = plt.subplots()
ax.plot(model.inclusion_probability_, ".", color="grey")
for number, found in enumerate(model.posterior_.credible_sets(0.95), 1):
    ax.plot(found.variables, found.probability, "o", label=f"set {number}")
for true in (42, 131, 250):
    ax.axvline(true, color="black", linewidth=0.5)
ax.set(xlabel="column", ylabel="inclusion probability")
ax.legend()
