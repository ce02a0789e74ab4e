"""Products with 2-bit genotypes beside a float32 array: genotypes a second, and how far they agree.

    python benchmarks/genotypes.py                  # 20,000 x 4000
    python benchmarks/genotypes.py --size 20000 200000 --missing 0.01

Processor time, fastest of some repeats in turns, so that a busy machine distorts it less. The file is
simulated (Hardy-Weinberg frequencies, neighbours alike) in a temporary folder.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from garrote.designs import DenseDesign, PlinkDesign


def main() -> None:
    """Print a table of products."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", nargs=2, type=int, default=(20_000, 4000), metavar=("N", "D"))
    parser.add_argument("--missing", type=float, default=0.0, help="share of the calls")
    parser.add_argument("--reps", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "simulated.bed"
        simulate(path, *arguments.size, arguments.missing)
        compare(PlinkDesign(path), arguments.reps)


def compare(genotypes: PlinkDesign, reps: int) -> None:
    n, d = genotypes.shape
    dense = np.empty((n, d), dtype=np.float32, order="F")
    for start in range(0, d, 500):
        some = np.arange(start, min(start + 500, d))
        dense[:, some] = genotypes.take(some, np.zeros(d))
    designs = [genotypes, DenseDesign(dense)]
    rng, columns = np.random.default_rng(0), np.arange(d)
    print(
        f"N = {n:,}, D = {d:,}: {genotypes.nbytes / 1e6:.0f} MB and {dense.nbytes / 1e6:.0f} MB\n"
    )
    print("| product | 2 bits, G/s | float32, G/s | times faster | largest difference |")
    print("|---|---|---|---|---|")
    for count in (1, 2, 8, 32):
        left, coef = rng.standard_normal((count, n)), rng.standard_normal((d, count))
        report(f"X'r of {count}", n * d * count, reps, designs, lambda X, left=left: X.tdot(left))
        if count in (1, 8):
            report(f"X w of {count}", n * d * count, reps, designs,
                   lambda X, coef=coef: X.dot(columns, coef))  # fmt: skip
    weights = rng.uniform(0.5, 2.0, n)
    report("means, deviations", n * d, reps, designs, lambda X: np.array(X.moments(weights)))


def report(label, products, reps, designs, use) -> None:
    """Print the speeds of one product; designs take turns."""
    best, found = [np.inf, np.inf], [None, None]
    for rep in range(reps + 1):
        for k, design in enumerate(designs):
            began = time.process_time()
            found[k] = use(design)
            if rep:  # the first round compiles
                best[k] = min(best[k], time.process_time() - began)
    apart = np.abs(found[0] - found[1]).max() / np.abs(found[1]).max()
    speed = [products / seconds / 1e9 for seconds in best]
    print(
        f"| {label} | {speed[0]:.1f} | {speed[1]:.1f} | {speed[0] / speed[1]:.1f} | {apart:.0e} |"
    )


def simulate(path: Path, n: int, d: int, missing: float, seed: int = 0) -> None:
    """Write .bed, .bim and .fam; of 20 variants in a row each has 80 % of the one before it."""
    rng, codes = np.random.default_rng(seed), np.array([3, 2, 0], dtype=np.uint8)
    copies = np.zeros(n, dtype=np.intp)
    frequency = 0.5
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for j in range(d):
            if j % 20 == 0:
                frequency = rng.uniform(0.05, 0.5)
            drawn = rng.random(n, dtype=np.float32)
            both = frequency**2
            new = (drawn < both).astype(np.intp) + (drawn < both + 2 * frequency * (1 - frequency))
            copies = new if j % 20 == 0 else np.where(rng.random(n) < 0.8, copies, new)
            code = codes[copies]
            if missing:
                code[rng.random(n) < missing] = 1
            four = np.pad(code, (0, -n % 4)).reshape(-1, 4)
            byte = four[:, 0] | four[:, 1] << 2 | four[:, 2] << 4 | four[:, 3] << 6
            file.write(byte.tobytes())
    path.with_suffix(".fam").write_text("".join(f"{i} {i} 0 0 0 -9\n" for i in range(n)))
    lines = (f"{1 + j * 22 // d}\trs{j}\t0\t{1000 * (j + 1)}\tA\tG\n" for j in range(d))
    path.with_suffix(".bim").write_text("".join(lines))


if __name__ == "__main__":
    main()
