"""Measure an R package: the problem goes by its raw files, the clock runs inside R."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from libraries.answers import Measurement

HERE = Path(__file__).parent


def package_version(package):
    """Ask R for a package's version; raise ImportError with the reason where there is none."""
    if shutil.which("Rscript") is None:
        raise ImportError("Rscript is not on the path")
    expression = f'cat(as.character(packageVersion("{package}")), R.version$major, R.version$minor)'
    asked = subprocess.run(
        ["Rscript", "--vanilla", "-e", expression], check=False, capture_output=True, text=True
    )
    if asked.returncode:
        raise ImportError(f"R has no package {package}")
    version, major, minor = asked.stdout.split()
    return f"{version} (R {major}.{minor})"


def measure_in_r(job, script, read_answer):
    """Run `script` on the problem; ``read_answer(path, chosen, scores)`` makes the Answer.

    The script leaves the path's coefficients (features x strengths, compressed columns) and, where
    it chose a model, the chosen coefficients and a score per feature.
    """
    folder = Path(job["folder"])
    description = json.loads((folder / "problem.json").read_text())
    if not description["sparse"] and (description["dtype"], description["order"]) != (
        "float64",
        "F",
    ):
        raise ValueError("R reads float64 columns only (order='F')")
    with tempfile.TemporaryDirectory() as out:
        out = Path(out)
        words = {"folder": folder, "out": out, "task": job["task"], "warm_up": int(job["warm_up"])}
        words |= {"patience": job["patience"]}
        words |= {"N": description["shape"][0], "D": description["shape"][1]}
        words |= {"sparse": int(description["sparse"])} | job["options"]
        command = ["Rscript", "--vanilla", str(HERE / script), str(HERE)]
        command += [f"{name}={value}" for name, value in words.items()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds, before, peak, design_bytes, processor = np.fromfile(out / "measured.bin")
        answer = (
            read_answer(*read_coefficients(out, description["shape"][1])) if job["judge"] else None
        )
    return Measurement(
        float(seconds), int(peak - before), int(design_bytes), answer, float(processor)
    )


def read_coefficients(out, D):
    """Return path (strengths x features), chosen coefficients and scores; None where absent."""
    path = None
    if (out / "beta_x.bin").exists():
        x, i, p = (
            np.fromfile(out / f"beta_{part}.bin", dtype)
            for part, dtype in (("x", np.float64), ("i", np.int32), ("p", np.int32))
        )
        path = sparse.csc_matrix((x, i, p), shape=(D, p.size - 1)).T.tocsr()
    chosen, score = (
        np.fromfile(out / f"{name}.bin") if (out / f"{name}.bin").exists() else None
        for name in ("chosen", "score")
    )
    return path, chosen, score
