"""Small files of genotypes, written by the definitions alone."""

import numpy as np

_CODES = {2: 0b00, 1: 0b10, 0: 0b11, -1: 0b01}


def drawn(n, count, seed=0, missing=0.0):
    """Return genotypes (n x count): copies of the counted allele, -1 where the call is missing."""
    rng = np.random.default_rng(seed)
    copies = rng.binomial(2, rng.uniform(0.1, 0.9, count), (n, count))
    for j in range(1, count, 3):  # neighbours resemble each other
        same = rng.random(n) < 0.7
        copies[same, j] = copies[same, j - 1]
    copies[rng.random((n, count)) < missing] = -1
    return copies


def filled(copies):
    """Return genotypes as numbers, with means of their columns where calls are missing."""
    values = np.where(copies < 0, np.nan, copies).astype(float)
    known = (copies >= 0).any(axis=0)
    means = np.zeros(copies.shape[1])
    means[known] = np.nanmean(values[:, known], axis=0)
    return np.where(copies < 0, means, values)


def write_plink(path, copies, *, chromosome="1", first=0, people=None, bim=None):
    """Write a .bed with its .bim and .fam; return its path."""
    n, count = copies.shape
    packed = bytearray(b"\x6c\x1b\x01")
    for j in range(count):
        for i in range(0, n, 4):
            byte = 0
            for k, value in enumerate(copies[i : i + 4, j]):
                byte |= _CODES[int(value)] << (2 * k)
            packed.append(byte)
    path.write_bytes(bytes(packed))
    people = [(f"f{i}", f"p{i}") for i in range(n)] if people is None else people
    lines = [f"{family} {name} 0 0 0 -9" for family, name in people]
    path.with_suffix(".fam").write_text("\n".join(lines) + "\n")
    if bim is None:
        bim = [f"{chromosome}\trs{first + j}\t0\t{1000 * (j + 1)}\tA\tG" for j in range(count)]
    path.with_suffix(".bim").write_text("\n".join(bim) + "\n")
    return path
