"""Write `families.json`: a table, and what R's glmnet and MASS, scikit-learn and statsmodels find in it.

Run with statsmodels and scikit-learn in place, and R with glmnet and MASS, from the folder `tests`:
python data/families.py
"""

import json
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import GammaRegressor, TweedieRegressor

HERE = Path(__file__).parent
RIDGE = 0.3

GLMNET = """
suppressMessages({library(glmnet); library(MASS)})
invisible(glmnet.control(epsnr = 1e-15, mxitnr = 1000))
d <- as.matrix(read.csv("table.csv"))
X <- d[, 1:4]; counts <- d[, 5]; positive <- d[, 6]; zeros <- d[, 7]; w <- d[, 8]; o <- d[, 9]
out <- function(name, fit) cat(name, sprintf("%.12g", as.numeric(coef(fit, s = 0.08))), "\\n")
control <- function(...) glmnet(X, ..., weights = w, offset = o, thresh = 1e-14, maxit = 1e7,
                                lambda = c(.3, .2, .12, .08))
out("negative-binomial", control(counts, family = negative.binomial(2)))
out("gamma", control(positive, family = Gamma(link = "log")))
cat("versions", as.character(packageVersion("glmnet")), as.character(packageVersion("MASS")), "\\n")
"""


def make_table():
    """Return four columns, three responses, weights and offsets; numbers of few digits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 4)).round(3) * np.array([1.0, 2.0, 0.5, 1.0])
    offset = (0.4 * rng.standard_normal(80)).round(3)
    mean = np.exp(0.5 + X @ np.array([0.5, -0.2, 0.0, 0.0]) + offset)
    counts = rng.poisson(mean * rng.gamma(2.0, 0.5, 80))
    positive = rng.gamma(3.0, mean / 3).round(3) + 0.01
    zeros = positive * (rng.random(80) < 0.7)
    return {
        "X": X, "counts": counts, "positive": positive, "zeros": zeros.round(3),
        "weights": rng.integers(1, 4, 80), "offset": offset,
    }  # fmt: skip


def from_r(table):
    """Return what R prints, by the name in front of it."""
    with tempfile.TemporaryDirectory() as folder:
        columns = [table[k] for k in ("counts", "positive", "zeros", "weights", "offset")]
        np.savetxt(
            Path(folder) / "table.csv", np.column_stack([table["X"], *columns]),
            delimiter=",", header="a,b,c,d,e,f,g,h,i", comments="", fmt="%.6g",
        )  # fmt: skip
        told = subprocess.run(
            ["Rscript", "-e", GLMNET], cwd=folder, capture_output=True, text=True, check=True
        ).stdout
    lines = [line.split() for line in told.strip().splitlines()]
    return {name: numbers for name, *numbers in lines}


def main():
    table = make_table()
    X, weights, offset = table["X"], table["weights"], table["offset"]
    told = from_r(table)
    versions = told.pop("versions")
    found = {name: list(map(float, numbers)) for name, numbers in told.items()}
    kinds = {
        "gamma": (GammaRegressor, {}, "positive"),
        "inverse-gaussian": (TweedieRegressor, {"power": 3, "link": "log"}, "positive"),
        "tweedie(1.6)": (TweedieRegressor, {"power": 1.6, "link": "log"}, "zeros"),
    }
    scikit = {}
    for name, (kind, settings, response) in kinds.items():
        fits = [
            kind(alpha=alpha, tol=1e-12, max_iter=10**5, solver="newton-cholesky", **settings).fit(
                X, table[response], weights
            )
            for alpha in (0.0, RIDGE)
        ]
        scikit[name] = [[float(m.intercept_), *m.coef_.tolist()] for m in fits]
    one = sm.add_constant(X)
    link = sm.families.links.Log()
    models = {
        "negative-binomial": sm.NegativeBinomial(table["counts"], one, offset=offset),
        "gamma": sm.GLM(table["positive"], one, sm.families.Gamma(link), offset=offset),
        "inverse-gaussian": sm.GLM(
            table["positive"],
            one,
            sm.families.InverseGaussian(link),
            offset=offset,
        ),
        "tweedie(1.6)": sm.GLM(table["zeros"], one, sm.families.Tweedie(link, 1.6), offset=offset),
    }
    free = {}
    for name, model in models.items():
        exact = {"gtol": 1e-12} if name == "negative-binomial" else {"tol": 1e-14}
        free[name] = model.fit(disp=0, maxiter=1000, **exact).params.tolist()
    stored = {
        "versions": {k: version(k) for k in ("scikit-learn", "statsmodels")}
        | dict(zip(("glmnet", "MASS"), versions, strict=True)),
        "table": {name: np.asarray(values).tolist() for name, values in table.items()},
        "ridge": RIDGE, "lasso": 0.08,
        "glmnet": found, "scikit-learn": scikit, "statsmodels": free,
    }  # fmt: skip
    (HERE / "families.json").write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    main()
