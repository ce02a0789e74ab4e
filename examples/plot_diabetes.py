"""
Which of 64 terms explain diabetes
==================================

442 patients, ten measurements with their squares and products, and the progression of the disease
after a year (Efron et al. 2004). The whole path is fitted, forwards and backwards, and
cross-validation chooses where on it to stop.
"""

from garrote import VariationalGarrote
from garrote.datasets import load_diabetes_quadratic
from garrote.displays import (
    CVCurveDisplay,
    HysteresisDisplay,
    InclusionDisplay,
    PathDisplay,
)

X, y, names = load_diabetes_quadratic()
model = VariationalGarrote().fit(X, y, feature_names=names)
model.summary()

# %%
# The evidence for each variable, with the effects and their intervals.
InclusionDisplay.from_estimator(model)

# %%
# How the evidence changes along the path: gamma, the prior log odds, is relaxed from left to
# right.
PathDisplay.from_estimator(model)

# %%
# The error on rows that were held out. The rule "1se" takes the sparsest model within a standard
# error of the best.
CVCurveDisplay.from_estimator(model)

# %%
# Where forward and backward solutions differ, the one of lower free energy is kept.
HysteresisDisplay.from_estimator(model)
