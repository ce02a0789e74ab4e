"""
Ten true variables among 5000
=============================

A table of the shape of gene expression data: few rows, thousands of columns that resemble their
neighbours. The truth is known here, so that what was found can be checked.
"""

from sklearn.linear_model import LassoCV
from sklearn.preprocessing import StandardScaler

from garrote import VariationalGarrote
from garrote.datasets import make_sparse_regression
from garrote.displays import InclusionDisplay, PathDisplay
from garrote.paths import Anneal

data = make_sparse_regression(200, 5000, 10, correlation=0.6, snr=8, random_state=1)
model = VariationalGarrote(method=Anneal(gammas=40)).fit(data.X, data.y)
true, found = data.coef != 0, model.get_support()
print(f"garrote: {found.sum()} selected, {(found & true).sum()} of 10 found")

# %%
# The lasso keeps all of them too, and adds many that are not there: what it shrinks away from the
# true variables it makes up for with others.
lasso = LassoCV(cv=5).fit(StandardScaler().fit_transform(data.X), data.y)
kept = lasso.coef_ != 0
print(f"lasso:   {kept.sum()} selected, {(kept & true).sum()} of 10 found")

# %%
# Effects (true ones are 1 and -1) with their intervals.
InclusionDisplay.from_estimator(model)

# %%
# The path: true variables come in one by one, and the certificate covers all 5000 columns.
print(model.certificate_)
PathDisplay.from_estimator(model, kind="effect")
