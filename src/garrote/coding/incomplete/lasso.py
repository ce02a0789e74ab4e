"""Codes of signals with gaps at a price: the lasso over the entries that were seen."""

import numpy as np
import scipy.sparse

from garrote.arrays import Floats
from garrote.coding.coders.base import of_the_worst
from garrote.coding.coders.lasso import lasso_gaps
from garrote.coding.codes import Codes
from garrote.coding.incomplete.mean_field import share_left
from garrote.coding.incomplete.signals import Incomplete
from garrote.results.certificates import GAP
from garrote.solvers.coding.incomplete_codes import lasso_codes_with_gaps


def encoded_at_price(atoms: Floats, price: float, signals: Incomplete) -> Codes:
    """Code signals, and measure each code by its duality gap."""
    values, seen = signals.values, signals.seen
    codes = np.zeros((len(values), len(atoms)))
    lasso_codes_with_gaps(atoms, values, seen, price, codes)
    gaps = lasso_gaps(atoms, values, codes, price, seen=seen)
    left = share_left(atoms, values, seen, codes)
    return Codes(scipy.sparse.csr_array(codes), left, gaps, of_the_worst(GAP, "duality gap", gaps))
