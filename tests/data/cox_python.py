"""Numbers of scikit-survival and lifelines for tests: run it where both are installed."""

import json
from pathlib import Path

import lifelines
import numpy as np
import pandas as pd
import sksurv
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored
from sksurv.util import Surv

HERE = Path(__file__).parent
NAMES = ["age", "sex", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss"]
TIMES = [100.0, 300.0, 600.0]

stored = json.loads((HERE / "cox_r.json").read_text())
time, event = np.array(stored["time"]), np.array(stored["event"]) > 0
X = np.column_stack([stored[f"x_{name}"] for name in NAMES])
model = CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12, n_iter=200)
model.fit(X, Surv.from_arrays(event, time))
frame = pd.DataFrame(X, columns=NAMES).assign(time=time, event=event)
fitter = lifelines.CoxPHFitter().fit(frame, "time", "event", fit_options={"precision": 1e-10})
found = {
    "versions": [f"scikit-survival {sksurv.__version__}", f"lifelines {lifelines.__version__}"],
    "times": TIMES,
    "survival": [f(np.array(TIMES)).tolist() for f in model.predict_survival_function(X[:4])],
    "concordance": float(concordance_index_censored(event, time, X @ model.coef_)[0]),
    "lifelines_coef": fitter.params_.tolist(),
    "lifelines_concordance": float(fitter.concordance_index_),
}
(HERE / "cox_python.json").write_text(json.dumps(found, indent=1) + "\n")
