"""Small files of genotypes, written by the definitions alone."""

import struct
import zlib

import numpy as np
import pytest

from conftest import NO_GENETICS

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


def write_bgen(
    path, dosage, *, phased=False, people=None, chromosome="1", alleles=("G", "A"), haploid=()
):
    """Write a .bgen of layout 2 with probabilities of 16 bits; return the dosages that it holds.

    ``dosage`` (n x count) is of the second allele, NaN where the call is missing; of those in
    ``haploid`` it is twice that of one chromosome.
    """
    n, count = dosage.shape
    names = [f"p{i}" for i in range(n)] if people is None else people
    flags = 1 | 2 << 2 | (1 << 31 if names else 0)
    samples = b"".join(struct.pack("<H", len(name)) + name.encode() for name in names)
    block = struct.pack("<II", 8 + len(samples), n) + samples if names else b""
    header = struct.pack("<III4sI", 20, count, n, b"bgen", flags)
    out, held = [struct.pack("<I", 20 + len(block)), header, block], np.empty((n, count))
    for j in range(count):
        calls, stored = [], []
        for i, value in enumerate(dosage[:, j]):
            one, missing = i in haploid, np.isnan(value)
            kept = [0] if one else [0, 0]
            if not missing and (phased or one):  # of each chromosome, the share of the first allele
                kept = [round((1 - value / 2) * 65535)] * len(kept)
                held[i, j] = 2 - 2 * kept[0] / 65535
            elif not missing:  # of two, one and no copy of the first allele
                least = max(0, value - 1)
                both = least + (0.3 * (value / 2 - least) if value % 1 else 0)
                kept = [round((1 - value + both) * 65535), round((value - 2 * both) * 65535)]
                held[i, j] = (kept[1] + 2 * (65535 - sum(kept))) / 65535
            else:
                held[i, j] = np.nan
            stored += kept
            calls.append((1 if one else 2) | (0x80 if missing else 0))
        ploidy = [call & 0x7F for call in calls]
        data = struct.pack("<IHBB", n, len(alleles), min(ploidy), max(ploidy)) + bytes(calls)
        data += struct.pack("<BB", phased, 16) + struct.pack(f"<{len(stored)}H", *stored)
        packed = zlib.compress(data)
        for text in (f"id{j}", f"rs{j}", chromosome):
            out.append(struct.pack("<H", len(text)) + text.encode())
        out.append(struct.pack("<IH", 1000 * (j + 1), len(alleles)))
        out += [struct.pack("<I", len(one)) + one.encode() for one in alleles]
        out.append(struct.pack("<II", len(packed) + 4, len(data)) + packed)
    path.write_bytes(b"".join(out))
    return held


def write_pgen(path, dosage, *, chromosome="1", first=0):
    """Write a .pgen of dosages of the ALT allele (NaN where missing) by Pgenlib; return what it holds.

    Dosages are kept to 1 / 16384; whole numbers alone are kept as calls.
    """
    pgenlib = pytest.importorskip("pgenlib", reason=NO_GENETICS)
    n, count = dosage.shape
    dosage = np.round(dosage * 16384) / 16384
    whole = bool(np.isin(dosage[~np.isnan(dosage)], [0, 1, 2]).all())
    with pgenlib.PgenWriter(
        str(path).encode(), n, variant_ct=count, nonref_flags=False, dosage_present=not whole
    ) as writer:
        for column in dosage.T:
            kept = np.where(np.isnan(column), -9, column)
            if whole:
                writer.append_biallelic(np.ascontiguousarray(kept, dtype=np.int8))
            else:
                writer.append_dosages(np.ascontiguousarray(kept, dtype=np.float32))
    lines = [f"{chromosome}\t{1000 * (j + 1)}\trs{first + j}\tG\tA" for j in range(count)]
    head = ["##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT"]
    path.with_suffix(".pvar").write_text("\n".join([*head, *lines]) + "\n")
    rows = [f"f{i}\tp{i}\tNA" for i in range(n)]
    path.with_suffix(".psam").write_text("\n".join(["#FID\tIID\tSEX", *rows]) + "\n")
    return dosage
