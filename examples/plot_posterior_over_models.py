"""
How sure can we be: the posterior over models
=============================================

Ten measurements of 442 patients (Efron et al. 2004). With so few variables all 1024 models can be
summed exactly; the same posterior is then sampled, as it would be with thousands of variables.
"""

import matplotlib.pyplot as plt

from garrote import SpikeSlabRegressor
from garrote.datasets import load_diabetes_quadratic
from garrote.displays import InclusionDisplay, ModelsDisplay

X, y, names = load_diabetes_quadratic()
X, names = X[:, :10], names[:10]
exact = SpikeSlabRegressor().fit(X, y, feature_names=names)
exact.summary()

# %%
# The most probable models, and the variables that keep false discoveries at 5 % in expectation.
print(exact.posterior_.models(5))
print([names[j] for j in exact.posterior_.discoveries(fdr=0.05)])
ModelsDisplay.from_estimator(exact)

# %%
# Inclusion probabilities, with effects that are averaged over models.
InclusionDisplay.from_estimator(exact)

# %%
# Sampled inclusion probabilities against exact ones.
sampled = SpikeSlabRegressor(method="sample", random_state=0).fit(X, y)
figure, ax = plt.subplots()
ax.errorbar(
    exact.inclusion_probability_, sampled.inclusion_probability_,
    2 * sampled.posterior_.accuracy.monte_carlo_error, fmt="o",
)  # fmt: skip
ax.axline((0, 0), slope=1, color="grey")
ax.set(xlabel="exact inclusion probability", ylabel="sampled")
