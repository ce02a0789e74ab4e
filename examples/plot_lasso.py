"""
The lasso, MCP, and a second fit without penalty
================================================

200 rows, 1000 correlated columns, ten true effects of 1 or -1. The lasso finds them, shrinks them, and
makes up for it with others that are not there. A concave penalty leaves large effects alone, and so does
a second, unpenalised fit to the columns that were found.
"""

import matplotlib.pyplot as plt
import numpy as np

from garrote import SparseRegressor
from garrote.datasets import make_sparse_regression
from garrote.displays import CVCurveDisplay, PathDisplay

data = make_sparse_regression(200, 1000, 10, correlation=0.6, snr=8, random_state=1)
true = np.flatnonzero(data.coef)
models = {
    "lasso": SparseRegressor(rule="1se"),
    "lasso, refitted": SparseRegressor(rule="1se", refit=True),
    "MCP": SparseRegressor("mcp", rule="1se"),
}
for name, model in models.items():
    found = model.fit(data.X, data.y).get_support(indices=True)
    effect = np.abs(model.coef_[true]).mean()
    print(
        f"{name}: {len(found)} selected, {np.isin(true, found).sum()} true, mean effect {effect:.2f}"
    )

# %%
# The paths: what enters early under MCP soon has its full size, and stays alone for long.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, name in zip(axes, ("lasso", "MCP"), strict=True):
    PathDisplay.from_estimator(models[name], ax=ax, max_named=10)

# %%
# Where the error is least, and how far every point of the path is from the best at most.
print(f"largest duality gap of the lasso's path: {models['lasso'].path_.certificate.max():.0e}")
CVCurveDisplay.from_estimator(models["MCP"])
