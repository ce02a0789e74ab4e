"""Write `knockoffs_knockpy.json`: what knockpy finds in the tables of `knockoff_tables`.

Run with knockpy in place, from the folder `tests`: python data/knockoffs_knockpy.py
"""

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np
from knockpy.knockoff_filter import KnockoffFilter
from knockpy.smatrix import compute_smatrix

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from knockoff_tables import EFFECTS, covariance, make_table, shares  # noqa: E402

TABLES, Q = 100, 0.1
SEPARATIONS = ("mvr", "sdp", "equicorrelated")
N_SHOWN = 40


def found_in_tables(rho, separation):
    """Return means, and their standard errors, of false shares and of power."""
    found = []
    for seed in range(TABLES):
        X, y, truth = make_table(rho, seed)
        np.random.seed(seed)  # noqa: NPY002 (knockpy draws from it)
        filtered = KnockoffFilter(
            ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": separation}
        ).forward(X=X, y=y, fdr=Q, shrinkage="ledoitwolf")
        found.append(shares(filtered.astype(bool), truth))
    each = np.array(found)
    error = each.std(axis=0, ddof=1) / np.sqrt(TABLES)
    return {
        "false": each[:, 0].mean(),
        "false_error": error[0],
        "power": each[:, 1].mean(),
        "power_error": error[1],
    }


def objectives(rho):
    """Return the sum of s of its semidefinite programme, and the trace that its other S has."""
    correlation = covariance(rho, N_SHOWN)
    most = np.diag(compute_smatrix(correlation, method="sdp"))
    least = np.diag(compute_smatrix(correlation, method="mvr"))
    inverse = np.linalg.inv(2 * correlation - np.diag(least))
    return {"sdp": most.sum(), "mvr": float((1 / least).sum() + np.trace(inverse))}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    told = {
        "knockpy": version("knockpy"),
        "tables": TABLES,
        "q": Q,
        "found": {
            f"{rho} {separation}": found_in_tables(rho, separation)
            for rho in EFFECTS
            for separation in SEPARATIONS
        },
        "objectives": {str(rho): objectives(rho) for rho in EFFECTS},
    }
    (HERE / "knockoffs_knockpy.json").write_text(json.dumps(told, indent=1) + "\n")
