"""Genotypes of 2 bits each, four a byte as PLINK writes them: sums and copies without unpacking.

A pair of bits is 00 for two copies of the first allele, 10 for one, 11 for none, 01 for a call that is
missing. Of each byte a field of four small numbers is made at once (`LACKING` counts the bits that are
set: copies are 2 less it). A field's numbers become floating-point numbers by being written into bits
50 and 51 of 1.0, which makes 1 + field / 4 of them without a conversion.

Rows are read in planes: plane q of a vector has its entries 4 b + q, for all bytes b.
"""

import numpy as np

from garrote._jit import kernel, number_of
from garrote.arrays import Array, Floats
from garrote.limits.budgets import ENTRIES_PER_CALL

# What a field is: copies lacking of two (a missing call counts 1), a missing call, no more than one copy
# or none, and none.
LACKING, MISSING, ONE_OR_NONE, NONE = 0, 1, 2, 3
# Bytes of a column read before the next column is turned to: the vectors' planes stay in cache.
_BYTES_TOGETHER = 4096
_ONE = 0x3FF0000000000000


def planes_of(rows: Floats, n_bytes: int) -> Floats:
    """Return K vectors (K x N) in planes (K x 4 x bytes), with zeros where there is no row."""
    padded = np.zeros((len(rows), 4 * n_bytes))
    padded[:, : rows.shape[1]] = rows
    return np.ascontiguousarray(padded.reshape(len(rows), n_bytes, 4).transpose(0, 2, 1))


def sum_fields(packed: Array, at: Array, field: int, planes: Floats) -> Floats:
    """Return the products (K x columns) of a field of some columns with K vectors in planes.

    Parameters
    ----------
    packed : array of uint8 of shape (variants, bytes)
    at : array of int
        Which variants.
    field : int
        One of ``LACKING``, ``MISSING``, ``ONE_OR_NONE`` and ``NONE``.
    planes : array of shape (K, 4, bytes)
    """
    product = np.zeros((len(planes), len(at)))
    step = columns_per_call(packed.shape[1])
    for start in range(0, len(at), step):
        _sum_fields(packed, at, field, planes, start, min(start + step, len(at)), product)
    product -= planes.sum(axis=(1, 2))[:, None]
    product *= 4.0
    return product


def add_columns(packed: Array, at: Array, field: int, coef: Floats, planes: Floats) -> None:
    """Add a field of some columns times their coefficients (columns x K) to K vectors in planes."""
    step = columns_per_call(packed.shape[1])
    for start in range(0, len(at), step):
        some = slice(start, start + step)
        _add_fields(packed, at[some], field, np.ascontiguousarray(coef[some].T), planes)
    planes -= 4.0 * coef.sum(axis=0)[:, None, None]


def columns_per_call(n_bytes: int) -> int:
    """Return how many columns a kernel goes through before Ctrl-C is listened to."""
    return max(4, 2 * ENTRIES_PER_CALL // max(1, 4 * n_bytes))


@kernel(inline=True)
def _write_field(column, field, fields):
    """Write a field of some bytes of a column."""
    for b in range(column.shape[0]):
        byte = column[b]
        above = byte >> 1
        if field == LACKING:
            fields[b] = byte - (above & 0x55)
        elif field == MISSING:
            fields[b] = byte & ~above & 0x55
        elif field == ONE_OR_NONE:
            fields[b] = above & 0x55
        else:
            fields[b] = byte & above & 0x55


@kernel
def _sum_fields(packed, at, field, planes, start, stop, product):
    """Add 1 + field / 4, summed with every vector, to ``product[:, start:stop]``."""
    n_bytes, count = packed.shape[1], planes.shape[0]
    one_field = np.empty(_BYTES_TOGETHER, dtype=np.uint8)
    other_field = np.empty(_BYTES_TOGETHER, dtype=np.uint8)
    for low in range(0, n_bytes, _BYTES_TOGETHER):
        high = min(low + _BYTES_TOGETHER, n_bytes)
        for place in range(start, stop, 2):
            other = min(place + 1, stop - 1)
            _write_field(packed[at[place], low:high], field, one_field)
            _write_field(packed[at[other], low:high], field, other_field)
            k = 0
            while k + 2 <= count:
                a, b, c, d = _two_by_two(one_field, other_field, planes, k, low, high)
                product[k, place] += a
                product[k + 1, place] += b
                if other > place:
                    product[k, other] += c
                    product[k + 1, other] += d
                k += 2
            if k < count:
                a, c = _one_by_two(one_field, other_field, planes, k, low, high)
                product[k, place] += a
                if other > place:
                    product[k, other] += c


# Loops go from 0 over slices of single planes: of an index that might be negative, or of a slice of
# several planes, the compiler cannot tell that entries lie side by side, and does a byte at a time.


@kernel(inline=True)
def _two_by_two(one_field, other_field, planes, k, low, high):
    """Return the sums of two columns with two vectors, each of which is read once."""
    one = np.int64(_ONE)
    r0, r1 = planes[k, 0, low:high], planes[k, 1, low:high]
    r2, r3 = planes[k, 2, low:high], planes[k, 3, low:high]
    s0, s1 = planes[k + 1, 0, low:high], planes[k + 1, 1, low:high]
    s2, s3 = planes[k + 1, 2, low:high], planes[k + 1, 3, low:high]
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
    c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
    for b in range(high - low):
        left, right = np.int64(one_field[b]), np.int64(other_field[b])
        x0 = number_of(one | ((left << 50) & (3 << 50)))
        x1 = number_of(one | ((left << 48) & (3 << 50)))
        x2 = number_of(one | ((left << 46) & (3 << 50)))
        x3 = number_of(one | ((left << 44) & (3 << 50)))
        z0 = number_of(one | ((right << 50) & (3 << 50)))
        z1 = number_of(one | ((right << 48) & (3 << 50)))
        z2 = number_of(one | ((right << 46) & (3 << 50)))
        z3 = number_of(one | ((right << 44) & (3 << 50)))
        a0 += x0 * r0[b]
        a1 += x1 * r1[b]
        a2 += x2 * r2[b]
        a3 += x3 * r3[b]
        b0 += x0 * s0[b]
        b1 += x1 * s1[b]
        b2 += x2 * s2[b]
        b3 += x3 * s3[b]
        c0 += z0 * r0[b]
        c1 += z1 * r1[b]
        c2 += z2 * r2[b]
        c3 += z3 * r3[b]
        d0 += z0 * s0[b]
        d1 += z1 * s1[b]
        d2 += z2 * s2[b]
        d3 += z3 * s3[b]
    return a0 + a1 + a2 + a3, b0 + b1 + b2 + b3, c0 + c1 + c2 + c3, d0 + d1 + d2 + d3


@kernel(inline=True)
def _one_by_two(one_field, other_field, planes, k, low, high):
    """Return the sums of two columns with one vector."""
    one = np.int64(_ONE)
    r0, r1 = planes[k, 0, low:high], planes[k, 1, low:high]
    r2, r3 = planes[k, 2, low:high], planes[k, 3, low:high]
    a0 = a1 = a2 = a3 = c0 = c1 = c2 = c3 = 0.0
    for b in range(high - low):
        left, right = np.int64(one_field[b]), np.int64(other_field[b])
        a0 += number_of(one | ((left << 50) & (3 << 50))) * r0[b]
        a1 += number_of(one | ((left << 48) & (3 << 50))) * r1[b]
        a2 += number_of(one | ((left << 46) & (3 << 50))) * r2[b]
        a3 += number_of(one | ((left << 44) & (3 << 50))) * r3[b]
        c0 += number_of(one | ((right << 50) & (3 << 50))) * r0[b]
        c1 += number_of(one | ((right << 48) & (3 << 50))) * r1[b]
        c2 += number_of(one | ((right << 46) & (3 << 50))) * r2[b]
        c3 += number_of(one | ((right << 44) & (3 << 50))) * r3[b]
    return a0 + a1 + a2 + a3, c0 + c1 + c2 + c3


@kernel
def _add_fields(packed, at, field, coef, planes):
    """Add (1 + field / 4) times 4 coef to vectors in planes."""
    n_bytes, count = packed.shape[1], planes.shape[0]
    one_field = np.empty(_BYTES_TOGETHER, dtype=np.uint8)
    other_field = np.empty(_BYTES_TOGETHER, dtype=np.uint8)
    for low in range(0, n_bytes, _BYTES_TOGETHER):
        high = min(low + _BYTES_TOGETHER, n_bytes)
        for place in range(0, at.shape[0], 2):
            other = min(place + 1, at.shape[0] - 1)
            _write_field(packed[at[place], low:high], field, one_field)
            _write_field(packed[at[other], low:high], field, other_field)
            for k in range(count):
                f = 4.0 * coef[k, place]
                g = 4.0 * coef[k, other] if other > place else 0.0
                for q in range(4):
                    shift, plane = np.int64(50 - 2 * q), planes[k, q, low:high]
                    _add_two(one_field, other_field, shift, f, g, plane)


@kernel(inline=True)
def _add_two(one_field, other_field, shift, f, g, plane):
    """Add two columns to every fourth entry of a vector."""
    one = np.int64(_ONE)
    for b in range(plane.shape[0]):
        x = number_of(one | ((np.int64(one_field[b]) << shift) & (3 << 50)))
        z = number_of(one | ((np.int64(other_field[b]) << shift) & (3 << 50)))
        plane[b] += f * x + g * z


@kernel
def unpack(packed, at, rows, values, block):
    """Fill a dense block (rows x columns); ``values`` has the number of each code, by column."""
    for k in range(at.shape[0]):
        for i in range(rows.shape[0]):
            row = rows[i]
            code = (packed[at[k], row >> 2] >> (2 * (row & 3))) & 3
            block[i, k] = values[k, code]


@kernel
def unpack_all(packed, at, values, block):
    """Do as `unpack`, for all rows in order."""
    n = block.shape[0]
    for k in range(at.shape[0]):
        a, b, c, d = values[k, 0], values[k, 1], values[k, 2], values[k, 3]
        for i in range(n):
            code = (packed[at[k], i >> 2] >> (2 * (i & 3))) & 3
            low = b if code & 1 else a
            high = d if code & 1 else c
            block[i, k] = high if code & 2 else low


@kernel
def repack(packed, at, rows, small):
    """Write some rows of some columns one after the other, in 2 bits each."""
    for k in range(at.shape[0]):
        for i in range(rows.shape[0]):
            row = rows[i]
            code = (packed[at[k], row >> 2] >> (2 * (row & 3))) & 3
            small[k, i >> 2] |= code << (2 * (i & 3))
