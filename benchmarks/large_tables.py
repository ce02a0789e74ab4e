"""A table larger than memory: seconds and memory of a fit that reads it once, beside decoding alone.

    python benchmarks/large_tables.py --folder /data   # 20 million rows: 32 GB of floats
    python benchmarks/large_tables.py --files 2 --rows 200000   # a hundredth of it

The files are one Parquet file (zstd; normal numbers with the digits of float32, 4.5 bytes each) under
several names: what is decoded is as much as if they differed. Five of 200 columns have effects.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from garrote import SparseRegressor
from garrote.designs import ChunkedDesign

COLUMNS = 200


def main() -> None:
    """Print what each step takes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of a file")
    parser.add_argument("--folder", help="where the files are written; a temporary one by default")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        paths = [Path(folder) / f"part{k:03d}.parquet" for k in range(arguments.files)]
        write(paths[0], arguments.rows)
        for path in paths[1:]:
            os.link(paths[0], path)
        floats = 8e-9 * arguments.rows * arguments.files * COLUMNS
        print(
            f"{floats:.3g} GB of floats, {paths[0].stat().st_size * len(paths) / 1e9:.3g} GB on disk"
        )
        report("decoded by polars alone, one file", floats / len(paths), lambda: decode(paths[0]))
        fits = SparseRegressor(alpha="bic")
        found = report("fitted, whole", floats, lambda: fit(fits, folder))
        print(np.flatnonzero(found.coef_), found.certificate_)


def write(path: Path, rows: int) -> None:
    names, rng = [f"x{j}" for j in range(COLUMNS)], np.random.default_rng(0)
    schema = pa.schema([(name, pa.float64()) for name in [*names, "y"]])
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(0, rows, 50_000):
            X = rng.standard_normal((50_000, COLUMNS), dtype=np.float32).astype(np.float64)
            y = X[:, :5].sum(axis=1) + 3 * rng.standard_normal(len(X))
            writer.write_batch(pa.record_batch([*X.T.copy(), y], schema=schema))


def decode(path: Path) -> None:
    for k in range(pq.ParquetFile(path).num_row_groups):
        group = pl.scan_parquet(path).slice(k * 50_000, 50_000).collect()
        assert group.height


def fit(model: SparseRegressor, folder: str) -> SparseRegressor:
    design = ChunkedDesign(folder, exclude=["y"])
    return model.fit(design, design.column("y"))


def report(label: str, floats: float, work):
    clock, processor = time.perf_counter(), time.process_time()
    found = work()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    most = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**30
    print(
        f"{label}: {processor:.1f} s of the processor ({floats / processor:.2f} GB of floats a second), "
        f"{clock:.0f} s by the clock, at most {most:.2f} GiB",
        flush=True,
    )
    return found


if __name__ == "__main__":
    main()
