"""Single effects in windows of genotypes, a response each: processor time a window, beside susieR.

    python benchmarks/windows.py                              # 1,000 windows of 2,000 variants
    python benchmarks/windows.py --windows 40 --susie 8       # susieR in the first eight

Windows overlap by half, people are 1,000; three variants of each have effects, half of the variance.
Ours is `garrote.many.fit_many` over a .bed: reading, fitting and writing count, a small call before
compiles. susieR (L = 10, its other settings as they come) is given each window as a matrix in memory.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent))

from garrote import SingleEffectsRegressor
from garrote.designs import PlinkDesign
from garrote.many import fit_many
from garrote.priors import SingleEffects
from genotypes import simulate

PEOPLE, WIDTH, STEP = 1000, 2000, 1000
SUSIE = """
suppressPackageStartupMessages(library(susieR))
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[2]); width <- as.integer(arguments[3]); count <- as.integer(arguments[4])
took <- 0
for (k in seq_len(count)) {
  X <- matrix(readBin(file.path(arguments[1], paste0("X", k)), "double", n * width), n, width)
  y <- readBin(file.path(arguments[1], paste0("y", k)), "double", n)
  took <- took + system.time(found <- susie(X, y, L = 10))[["user.self"]]
  pip <- susie_get_pip(found)
  writeBin(pip, file.path(arguments[1], paste0("pip", k)))
}
cat(took / count)
"""


def main() -> None:
    """Print seconds of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--windows", type=int, default=1000)
    parser.add_argument("--susie", type=int, default=20, help="windows that susieR is timed on")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        count = arguments.windows
        simulate(folder / "geno.bed", PEOPLE, STEP * (count - 1) + WIDTH, 0.0)
        genotypes = PlinkDesign(folder / "geno.bed")
        windows = [slice(STEP * k, STEP * k + WIDTH) for k in range(count)]
        Y = np.column_stack([response(genotypes, window, k) for k, window in enumerate(windows)])
        for label, prior in (
            ("L = 10", SingleEffects(effects=10, refine=False)),
            ("effects found by itself, refined", SingleEffects()),
        ):
            model = SingleEffectsRegressor(prior)
            fit_many(genotypes, Y[:, :2], folder / "small", model=model, windows=windows[:2])
            began = time.process_time()
            fit_many(genotypes, Y, folder / f"{label}.parquet", model=model, windows=windows)
            took = (time.process_time() - began) / count
            print(f"garrote, {label}: {1000 * took:.1f} ms a window", flush=True)
        beside(folder, genotypes, windows[: arguments.susie], Y)


def response(genotypes: PlinkDesign, window: slice, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    causes = np.sort(rng.choice(np.arange(window.start, window.stop), 3, replace=False))
    block = genotypes.take(causes, np.zeros(genotypes.shape[1]))
    signal = ((block - block.mean(axis=0)) / block.std(axis=0)).sum(axis=1)
    return signal + rng.standard_normal(PEOPLE) * signal.std()


def beside(folder: Path, genotypes: PlinkDesign, windows, Y: np.ndarray) -> None:
    """Time susieR, and say how far inclusion probabilities are apart."""
    for k, window in enumerate(windows, 1):
        columns = np.arange(window.start, window.stop)
        genotypes.take(columns, np.zeros(genotypes.shape[1])).T.tofile(folder / f"X{k}")
        Y[:, k - 1].tofile(folder / f"y{k}")
    script = folder / "susie.R"
    script.write_text(SUSIE)
    command = ["Rscript", "--vanilla", str(script), str(folder), str(PEOPLE), str(WIDTH)]
    told = subprocess.run([*command, str(len(windows))], capture_output=True, text=True, check=True)
    print(f"susieR: {1000 * float(told.stdout):.1f} ms a window")
    frame, apart = pl.read_parquet(folder / "L = 10.parquet"), []
    for k, window in enumerate(windows, 1):
        pip = np.fromfile(folder / f"pip{k}")
        rows = frame.filter(pl.col("trait") == f"y{k - 1}")
        ours = np.zeros(WIDTH)
        ours[rows["column"].to_numpy() - window.start] = rows["probability"].to_numpy()
        apart.append(np.abs(ours - pip)[(ours >= 0.01) | (pip >= 0.02)].max())
    print(
        f"probabilities apart by {np.median(apart):.1e} in the median window, {max(apart):.1e} at most"
    )


if __name__ == "__main__":
    main()
