"""Write `multi_response.json`: tables, and what glmnet's mgaussian and skglm's SqrtLasso find in them.

Run with skglm in place, and R with glmnet, from the folder `tests`: python data/multi_response.py
"""

import json
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
from skglm.experimental.sqrt_lasso import SqrtLasso

HERE = Path(__file__).parent
LEVELS, STRENGTHS = (0.2, 0.4), (0.5, 0.2)

GLMNET = """
suppressMessages(library(glmnet))
d <- as.matrix(read.csv("table.csv"))
X <- d[, 1:6]; Y <- d[, 7:9]; w <- d[, 10]; O <- d[, 11:13]
fit <- glmnet(X, Y, family = "mgaussian", weights = w, offset = O, thresh = 1e-20, maxit = 1e7,
              lambda = c(.8, .5, .3, .2))
for (s in c(.5, .2)) for (k in 1:3)
  cat("coef", sprintf("%.12g", as.numeric(coef(fit, s = s)[[k]])), "\\n")
cat("version", as.character(packageVersion("glmnet")), "\\n")
"""


def make_table():
    """Return six columns, three responses with an offset each, and weights; numbers of few digits."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((50, 6)) * np.array([1.0, 3.0, 0.5, 1.0, 1.0, 1.0])).round(3)
    offset = rng.standard_normal((50, 3)).round(3)
    coef = np.array([[1.0, -0.5, 0.3], [0.2, 0.3, -0.2]])
    Y = 1.0 + X[:, :2] @ coef + offset + rng.standard_normal((50, 3))
    return {"X": X, "Y": Y.round(3), "weights": rng.integers(1, 4, 50), "offset": offset}


def from_glmnet(table):
    """Return the intercepts and coefficients of every response at two strengths."""
    with tempfile.TemporaryDirectory() as folder:
        whole = np.column_stack([table[k] for k in ("X", "Y", "weights", "offset")])
        names = ",".join(f"v{k}" for k in range(whole.shape[1]))
        path = Path(folder) / "table.csv"
        np.savetxt(path, whole, delimiter=",", header=names, comments="", fmt="%.6g")
        told = subprocess.run(
            ["Rscript", "-e", GLMNET], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    lines = [line.split() for line in told.strip().splitlines()]
    numbers = [list(map(float, line[1:])) for line in lines if line[0] == "coef"]
    return np.array(numbers).reshape(2, 3, 7), lines[-1][1]


def main():
    table = make_table()
    found, which = from_glmnet(table)
    X, y = table["X"], table["Y"][:, 0]
    root = []
    for level in LEVELS:
        model = SqrtLasso(alpha=level, tol=1e-12, fit_intercept=False, max_iter=1000)
        root.append(model.fit(X - X.mean(axis=0), y - y.mean()).coef_.ravel().tolist())
    stored = {
        "versions": {"glmnet": which, "skglm": version("skglm")},
        "table": {name: values.tolist() for name, values in table.items()},
        "strengths": STRENGTHS, "mgaussian": found.tolist(),
        "levels": LEVELS, "square root": root,
    }  # fmt: skip
    (HERE / "multi_response.json").write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    main()
