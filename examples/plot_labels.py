"""
Which variables tell two classes apart
======================================

The Variational Garrote for labels follows a path over the prior log odds gamma and chooses on it by
cross-validated deviance. The Bayesian classifier averages over models: where two variables could stand
in for each other it says so, by probabilities that share one.
"""

# %%
import numpy as np

from garrote import SpikeSlabClassifier, VariationalGarroteClassifier
from garrote.displays import InclusionDisplay, PathDisplay
from garrote.inference import Sample

rng = np.random.default_rng(0)
X = rng.standard_normal((150, 12))
X[:, 5] = X[:, 4] + 0.3 * rng.standard_normal(150)
labels = np.where(1.5 * X[:, 1] - 1.5 * X[:, 4] + rng.logistic(size=150) > 0, "ill", "well")

garrote = VariationalGarroteClassifier().fit(X, labels)
print(garrote.summary())
PathDisplay.from_estimator(garrote, kind="effect")

# %%
# The same by Polya-Gamma sampling, with probabilities of classes averaged over models and coefficients.
bayes = SpikeSlabClassifier(method=Sample(n_steps=1000), random_state=0).fit(X, labels)
print(bayes.posterior_.models(5))
print(bayes.predict_proba(X[:3]).round(2))
InclusionDisplay.from_estimator(bayes)
