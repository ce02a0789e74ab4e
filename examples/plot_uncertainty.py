"""
Covariates, prior knowledge, and how sure a prediction is
=========================================================

Age and sex shall be in the model whatever the data say, and what is known about the body mass index
makes it more likely to matter than others.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from garrote import VariationalGarrote
from garrote.datasets import load_diabetes_quadratic

X, y, names = load_diabetes_quadratic()
X, X_new, y, y_new = train_test_split(X, y, test_size=100, random_state=0)
model = VariationalGarrote(covariates=["age", "sex"], prior_log_odds={"bmi": 2.0})
model.fit(X, y, feature_names=names)
model.summary()

# %%
# A prediction's standard deviation holds noise, coefficients and intercept, given the selection.
mean, deviation = model.predict(X_new, return_std=True)
inside = np.abs(y_new - mean) <= 1.96 * deviation
print(f"{inside.mean():.0%} of 100 new patients lie within 1.96 standard deviations")

order = np.argsort(mean)
_, ax = plt.subplots(layout="constrained")
reach = 1.96 * deviation[order]
ax.errorbar(range(100), mean[order], reach, fmt=".", alpha=0.5, label="predicted")
ax.plot(range(100), y_new[order], "k.", label="observed")
ax.set(xlabel="new patients, by prediction", ylabel="progression of the disease")
ax.legend(loc="upper left")

# %%
# Draws of the coefficients: a variable is in by its probability, then its effect varies.
draws = model.posterior_.sample(1000, random_state=0)
print((draws != 0).mean(axis=0)[model.get_support()])
