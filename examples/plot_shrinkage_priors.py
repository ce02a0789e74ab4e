"""
Shrinkage priors
================

The Bayesian lasso shrinks all effects alike. The horseshoe shrinks noise to nothing and leaves large
effects nearly as they are. Neither leaves a variable out: what is selected has a sure sign.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import ShrinkageRegressor
from garrote.datasets import make_sparse_regression

# %%
# Sixty rows, forty variables, four of them with an effect.

data = make_sparse_regression(n_samples=60, n_features=40, n_informative=4, random_state=1)
priors = ("laplace", "horseshoe")
models = {prior: ShrinkageRegressor(prior, random_state=0).fit(data.X, data.y) for prior in priors}
print(models["horseshoe"].summary())

# %%
# Intervals of 95 %, and the true effects as crosses.

figure, panels = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
for panel, (prior, model) in zip(panels, models.items(), strict=True):
    lower, upper = model.posterior_.interval(0.95)
    columns = np.arange(data.X.shape[1])
    panel.vlines(columns, lower, upper, color=np.where(model.get_support(), "C0", "0.7"))
    panel.plot(columns, data.coef, "x", color="0.2", markersize=4)
    panel.set(title=prior, xlabel="variable")
panels[0].set_ylabel("effect")
