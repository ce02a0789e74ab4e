"""Write format_2.garrote, and format_2.json with what its model predicts. Run where the format is 2."""

import json
from pathlib import Path

import numpy as np

from garrote import VariationalGarrote
from garrote.paths import Anneal
from garrote.persistence import save_model

HERE = Path(__file__).parent

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 4))
y = X[:, 0] - 2 * X[:, 3] + rng.standard_normal(40)
model = VariationalGarrote(method=Anneal(gammas=3), cv=3, covariates=[0], signs={1: 1}).fit(X, y)
save_model(model, HERE / "format_2.garrote", extra={"target": "y"})
rows = rng.standard_normal((5, 4)).round(2)
mean, spread = model.predict(rows, return_std=True)
told = {"X": rows, "mean": mean, "spread": spread, "support": model.get_support()}
document = json.dumps({name: value.tolist() for name, value in told.items()}, indent=1)
(HERE / "format_2.json").write_text(document + "\n")
