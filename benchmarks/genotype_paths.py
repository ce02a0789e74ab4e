"""Paths over genotypes where they lie: seconds of the processor and the clock, and memory.

    python benchmarks/genotype_paths.py --size 50000 500000 --folder /data      # a file of 6.3 GB
    python benchmarks/genotype_paths.py --size 20000 20000 --dense              # beside float32
    python benchmarks/genotype_paths.py --size 20000 20000 --write x.npz lasso  # for other libraries

The file has 2,000 simulated variants (Hardy-Weinberg frequencies, neighbours alike), over and over:
each time people have moved on by some fours, so that columns far from each other are independent, and
writing takes no longer than the disk does. Twenty variants have effects that explain half of the
variance. Memory: the largest amount at any time that is not the file itself (RssAnon), and all of it,
pages of the file that the system could drop included (VmHWM). A small fit before compiles.
"""

import argparse
import sys
import tempfile
import threading
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from garrote import SparseRegressor, VariationalGarrote
from garrote.designs import DenseDesign, PlinkDesign
from garrote.paths import Anneal, FollowPath
from genotypes import simulate

POOL = 2000
WORK = {
    "garrote": lambda: VariationalGarrote(
        method=Anneal(gammas=50, tol=1e-2), gamma="free_energy", correct=False
    ),
    "lasso": lambda: SparseRegressor(method=FollowPath(alphas=50, eps=0.1, tol=1e-5), alpha="bic"),
}


def main() -> None:
    """Print a row for each path."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", nargs="*", default=list(WORK), metavar="WORK")
    parser.add_argument("--size", nargs=2, type=int, default=(20_000, 4000), metavar=("N", "D"))
    parser.add_argument("--folder", help="where the file is written; a temporary one by default")
    parser.add_argument("--dense", action="store_true", help="the same as float32 beside it")
    parser.add_argument("--write", metavar="FILE", help="the response and strengths, for others")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of convergence; the certificate tells
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "simulated.bed"
        write(path, *arguments.size)
        print(f"{path.stat().st_size / 1e9:.2f} GB written", flush=True)
        with measured("opened, calls counted"):
            genotypes = PlinkDesign(path)
            genotypes.missing  # noqa: B018 - counts
        y = response(genotypes)
        warm_up(Path(folder))
        for work in arguments.work:
            fit(f"{work}, 2 bits", WORK[work], genotypes, y, arguments.write)
        if arguments.dense:
            dense = as_floats(genotypes)
            for work in arguments.work:
                fit(f"{work}, float32", WORK[work], dense, y)
        if arguments.write:
            input("the file stays until Enter is pressed")


def write(path: Path, n: int, d: int) -> None:
    """Write a file of d variants, of which some are simulated."""
    pool = path.with_name("pool.bed")
    simulate(pool, n, min(POOL, d), 0.0)
    packed = np.fromfile(pool, dtype=np.uint8)[3:].reshape(min(POOL, d), -1)
    whole = n // 4  # of bytes without padding
    with path.open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for start in range(0, d, POOL):
            moved = packed[: d - start].copy()
            moved[:, :whole] = np.roll(moved[:, :whole], 17 * (start // POOL), axis=1)
            file.write(moved.tobytes())
    pool.with_suffix(".fam").replace(path.with_suffix(".fam"))
    lines = (f"{1 + j * 22 // d}\trs{j}\t0\t{1000 * (j + 1)}\tA\tG\n" for j in range(d))
    path.with_suffix(".bim").write_text("".join(lines))
    pool.unlink()


def response(genotypes: PlinkDesign) -> np.ndarray:
    n, d = genotypes.shape
    rng = np.random.default_rng(1)
    causes = np.sort(rng.choice(d, 20, replace=False))
    block = genotypes.take(causes, np.zeros(d))
    block = (block - block.mean(axis=0)) / block.std(axis=0)
    signal = block @ rng.choice([-1.0, 1.0], 20)
    return signal + rng.standard_normal(n) * signal.std()


def as_floats(genotypes: PlinkDesign) -> DenseDesign:
    n, d = genotypes.shape
    dense = np.empty((n, d), dtype=np.float32, order="F")
    for start in range(0, d, 500):
        some = np.arange(start, min(start + 500, d))
        dense[:, some] = genotypes.take(some, np.zeros(d))
    return DenseDesign(dense)


def warm_up(folder: Path) -> None:
    """Compile, on a small file."""
    path = folder / "small.bed"
    simulate(path, 400, 600, 0.0)
    small = PlinkDesign(path)
    y = response(small)
    for make in WORK.values():
        make().fit(small, y)
        make().fit(as_floats(small), y)


def fit(label, make, X, y, written=None) -> None:
    with measured(label):
        model = make().fit(X, y)
    found = model.selection_
    print(f"    {np.count_nonzero(found.selected)} selected; {found.certificate}", flush=True)
    if written:
        np.savez(written, y=y, alphas=getattr(model.path_, "strengths", []))


@contextmanager
def measured(label):
    """Print what a block of code took, of the processor, by the clock, and of memory at most."""
    most, done = [0], threading.Event()

    def watch():
        while not done.wait(0.2):
            most[0] = max(most[0], status("RssAnon"))

    watcher = threading.Thread(target=watch, daemon=True)
    clock, processor = time.perf_counter(), time.process_time()
    watcher.start()
    yield
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    done.set()
    watcher.join()
    print(
        f"{label}: {processor:.1f} s of the processor, {clock:.0f} s by the clock, "
        f"{max(most[0], status('RssAnon')) / 2**30:.2f} GiB beside the file, "
        f"{status('VmHWM') / 2**30:.2f} GiB with it at most",
        flush=True,
    )


def status(name: str) -> int:
    """Return a number of bytes that the kernel states."""
    line = next(
        one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(name)
    )
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    main()
