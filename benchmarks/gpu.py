"""FISTA on arrays of NumPy and of PyTorch on a GPU: seconds for the same iterations, and the gap.

    python benchmarks/gpu.py                # needs the extra "gpu" and a GPU that PyTorch knows
    python benchmarks/gpu.py --size 2000 5000 --iterations 50

The first row is NumPy on the CPU, by which the others are divided. X lies where it is worked on; the
time to bring it there is stated apart.
"""

import argparse
import time

import numpy as np
import torch

from garrote import proximal_gradient
from garrote.penalties import L1

SIZES = [(2_000, 10_000), (10_000, 50_000)]


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", nargs=2, type=int, metavar=("N", "D"))
    parser.add_argument("--iterations", type=int, default=200)
    arguments = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "no GPU"
    print(f"PyTorch {torch.__version__}, {name}; {torch.get_num_threads()} threads\n")
    for size in [tuple(arguments.size)] if arguments.size else SIZES:
        compare(*size, arguments.iterations, device)


def compare(n: int, d: int, iterations: int, device: str) -> None:
    """Print the seconds of every kind of array for one problem."""
    X, y, strength = draw(n, d)
    print(
        f"N = {n}, D = {d}, {iterations} iterations of FISTA, lasso at 0.1 of the largest strength\n"
    )
    print("| arrays | to the device, s | fit, s | times faster | duality gap | variables |")
    print("|---|---|---|---|---|---|")
    first = None
    for label, dtype, where in (
        ("NumPy float64", np.float64, None),
        ("NumPy float32", np.float32, None),
        (f"PyTorch float64, {device}", np.float64, device),
        (f"PyTorch float32, {device}", np.float32, device),
    ):
        began = time.perf_counter()
        arrays = [a.astype(dtype, copy=False) for a in (X, y)]
        if where is not None:
            arrays = [torch.from_numpy(a).to(where) for a in arrays]
            synchronise(where)
        moved = time.perf_counter() - began
        proximal_gradient(*arrays, L1(), strength, tol=0.0, max_iter=2)  # compiles, warms up
        began = time.perf_counter()
        fit = proximal_gradient(*arrays, L1(), strength, tol=0.0, max_iter=iterations)
        synchronise(where)
        took = time.perf_counter() - began
        first = first or took
        size = int((fit.coef != 0).sum())
        print(
            f"| {label} | {moved if where else 0.0:.2f} | {took:.3f} | {first / took:.1f} | "
            f"{fit.certificate.value:.1e} | {size} |",
            flush=True,
        )
        del arrays
    print()


def draw(n: int, d: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return columns, a response of 50 of them, and a tenth of the strength that empties the model."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32).astype(np.float64)
    y = X[:, :50] @ rng.standard_normal(50) + rng.standard_normal(n)
    return X, y, 0.1 * float(np.abs(y @ X).max()) / n


def synchronise(where: str | None) -> None:
    """Wait until the GPU is done."""
    if where == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
