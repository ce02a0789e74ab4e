"""Columns of 2-bit genotypes as loops over coordinates read them: centred and scaled on the fly."""

from typing import NamedTuple

import numpy as np

from garrote._jit import number_of
from garrote.arrays import Array, Floats
from garrote.rules import add_column, column_dot, squared_residual

_ONE = 0x3FF0000000000000


class GenotypeColumns(NamedTuple):
    """What kernels see of genotypes.

    ``at`` says which row of ``packed`` a column is, ``rows`` which genotype of it belongs to each row of
    the design; it is empty where these are the first ones in order. ``fill`` stands for missing calls.
    """

    packed: Array
    at: Array
    rows: Array
    fill: Floats
    gaps: Array
    mean: Floats
    scale: Floats


@column_dot.register
def _(design: GenotypeColumns, j, residual):
    packed, at, values, one = design.packed, design.at[j], residual.values, np.int64(_ONE)
    n, mean = values.shape[0], design.mean[j]
    # x - mean = 2 - lacking - mean, and lacking = 4 (number - 1).
    level = 6.0 - mean
    total = 0.0
    if design.rows.shape[0]:
        for i in range(n):
            row = design.rows[i]
            code = (packed[at, row >> 2] >> (2 * (row & 3))) & 3
            total += (2.0 - mean - ((code & 1) + (code >> 1))) * values[i]
    else:
        whole = n >> 2
        for b in range(whole):
            byte = packed[at, b]
            lacking, i = np.int64(byte - ((byte >> 1) & 0x55)), 4 * b
            total += (level - 4.0 * number_of(one | ((lacking << 50) & (3 << 50)))) * values[i]
            total += (level - 4.0 * number_of(one | ((lacking << 48) & (3 << 50)))) * values[i + 1]
            total += (level - 4.0 * number_of(one | ((lacking << 46) & (3 << 50)))) * values[i + 2]
            total += (level - 4.0 * number_of(one | ((lacking << 44) & (3 << 50)))) * values[i + 3]
        for i in range(4 * whole, n):
            code = (packed[at, i >> 2] >> (2 * (i & 3))) & 3
            total += (2.0 - mean - ((code & 1) + (code >> 1))) * values[i]
    if design.gaps[j]:  # a missing call was counted as one copy
        missing = 0.0
        for i in range(n):
            row = design.rows[i] if design.rows.shape[0] else i
            if (packed[at, row >> 2] >> (2 * (row & 3))) & 3 == 1:
                missing += values[i]
        total += (design.fill[j] - 1.0) * missing
    return total / design.scale[j]


@add_column.register
def _(design: GenotypeColumns, j, step, residual):
    packed, at, values, weights = design.packed, design.at[j], residual.values, residual.weights
    mean, scaled = design.mean[j], step / design.scale[j]
    two, one, nothing = scaled * (2.0 - mean), scaled * (1.0 - mean), -scaled * mean
    missing = scaled * (design.fill[j] - mean)
    given = design.rows.shape[0] > 0
    for i in range(values.shape[0]):
        row = design.rows[i] if given else i
        code = (packed[at, row >> 2] >> (2 * (row & 3))) & 3
        low = missing if code & 1 else two
        high = nothing if code & 1 else one
        values[i] += weights[i] * (high if code & 2 else low)


@squared_residual.register
def _(design: GenotypeColumns, residual, start, coef):
    total = 0.0
    for i in range(residual.values.shape[0]):
        if residual.weights[i] > 0:
            total += residual.values[i] * residual.values[i] / residual.weights[i]
    return total
