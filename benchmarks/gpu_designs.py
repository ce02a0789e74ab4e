"""Penalised paths, the garrote's path and single effects, with X on a GPU: seconds, and certificates.

    python benchmarks/gpu_designs.py                    # 20,000 x 200,000 and 5,000 x 500,000: 17 GB
    python benchmarks/gpu_designs.py --share 0.01       # a hundredth of the columns
    python benchmarks/gpu_designs.py lasso --share 0.1

X is made on the device, float32 with independent columns, 50 of them with effects. Every fit is made
twice: the first compiles, and takes fresh memory.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from garrote import SingleEffectsRegressor, SparseRegressor, VariationalGarrote
from garrote.designs import DeviceDesign
from garrote.paths import Anneal, FollowPath
from garrote.priors import SingleEffects

WORK = {
    "lasso": (
        20_000,
        200_000,
        lambda: SparseRegressor(
            method=FollowPath(alphas=100, eps=5e-2, tol=1e-5), fit_intercept=False, alpha=None
        ),
    ),
    "garrote": (
        20_000,
        200_000,
        lambda: VariationalGarrote(
            method=Anneal(gammas=50, tol=1e-2), gamma="free_energy", correct=False
        ),
    ),
    "effects": (5_000, 500_000, lambda: SingleEffectsRegressor(SingleEffects(effects=10))),
}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", nargs="*", default=["products", *WORK], metavar="WORK")
    parser.add_argument("--share", type=float, default=1.0, help="of the columns")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of convergence; the certificate tells
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "no GPU"
    print(f"PyTorch {torch.__version__}, {name}", flush=True)
    drawn = {}
    for work in arguments.work:
        n, d, make = WORK.get(work, WORK["lasso"])
        size = n, int(d * arguments.share)
        if size not in drawn:
            drawn.clear()
            drawn[size] = draw(*size, device)
        if work == "products":
            measure_products(*drawn[size])
        else:
            measure_fits(work, make, *drawn[size])


def draw(n: int, d: int, device: str) -> tuple[torch.Tensor, np.ndarray]:
    """Return X on the device, and y in the machine's memory."""
    generator = torch.Generator(device).manual_seed(0)
    X = torch.randn((n, d), generator=generator, device=device, dtype=torch.float32)
    rng = np.random.default_rng(0)
    places = np.sort(rng.choice(d, 50, replace=False))
    signal = X[:, torch.from_numpy(places).to(device)].double().cpu().numpy()
    effects = rng.uniform(0.5, 1.5, 50) * rng.choice([-1.0, 1.0], 50)
    y = signal @ effects
    return X, y + rng.standard_normal(n) * np.linalg.norm(effects) / 3.0


def measure_products(X: torch.Tensor, y: np.ndarray) -> None:
    """Print what products with all columns take, and how far they are from float64's."""
    few = X[:, :1000].double().cpu().numpy()
    coef = np.random.default_rng(2).standard_normal((X.shape[1], 1))
    for precision in ("mixed", "double"):
        design = DeviceDesign(X, precision=precision)
        for count in (1, 8):
            left = np.random.default_rng(1).standard_normal((count, len(y)))
            took = seconds(lambda left=left, design=design: design.tdot(left))
            off = np.abs(design.tdot(left)[:, :1000] - left @ few).max() / len(y)
            print(f"X'r, {precision}, {count} vectors: {1e3 * took:.1f} ms, off by {off:.0e}")
        took = seconds(lambda design=design: design.dot(np.arange(X.shape[1]), coef))
        print(f"Xb, {precision}, 1 vector: {1e3 * took:.1f} ms", flush=True)
    moments = seconds(lambda: DeviceDesign(X).moments(np.ones(len(y))), repeats=2)
    some = np.arange(0, X.shape[1], max(1, X.shape[1] // 500))
    taken = seconds(lambda: DeviceDesign(X).take(some, np.zeros(X.shape[1])), repeats=3)
    print(f"moments: {1e3 * moments:.0f} ms; {len(some)} columns fetched: {1e3 * taken:.0f} ms\n")


def seconds(do, repeats: int = 5) -> float:
    """Return the least of the seconds that something takes."""
    took = []
    for _ in range(repeats):
        began = time.perf_counter()
        do()
        took.append(time.perf_counter() - began)
    return min(took)


def measure_fits(work: str, make, X: torch.Tensor, y: np.ndarray) -> None:
    """Print what a fit takes cold and warm, and how good its answer is."""
    for state in ("cold", "warm"):
        began = time.perf_counter()
        model = make().fit(X, y)
        took = time.perf_counter() - began
        path = getattr(model, "path_", None)
        worst = model.certificate_.value if path is None else np.max(path.certificate)
        found = int(model.selection_.selected.sum())
        print(
            f"{work} {len(y)} x {X.shape[1]}, {state}: {took:.2f} s, certificate {worst:.1e}, "
            f"{found} selected",
            flush=True,
        )


if __name__ == "__main__":
    main()
