"""The roof dual: each switch and its opposite are set apart, which leaves a minimum cut.

A pair that adds c where both are on pulls the two switches together if c > 0, and a switch to the
opposite of the other if c < 0. With a node for each switch and one for each opposite all pairs pull
together, and the best on-or-off of all 2n nodes is a minimum cut. It is a bound because a switch and
its opposite may then agree; where no pair pulls apart, it is the maximum itself. It is also the bound
of the linear programme that replaces products (Hammer, Hansen & Simeone 1984; Boros & Hammer 1991).
"""

import numpy as np

from garrote.binary.programme import BinaryProgramme
from garrote.proximal.carrying import largest_flow
from garrote.proximal.graph import Graph


def roof_dual(programme: BinaryProgramme) -> float:
    """Return the bound, which any flow within its limits proves, from the largest one.

    With s_i = b_i + A_ii + sum_{j != i} A_ij, pairs c_ij = 2 A_ij and x' the opposites of x,

    ::

        f(x) = sum_{c_ij < 0} |c_ij| / 2 + sum_i s_i / 2 + sum_i (x_i - x'_i) s_i / 2
               - sum_{c_ij > 0} c_ij / 4 (|x_i - x_j| + |x'_i - x'_j|)
               - sum_{c_ij < 0} |c_ij| / 4 (|x_i - x'_j| + |x'_i - x_j|)
    """
    n = programme.n_switches
    one, other, pair = programme.pairs
    apart = np.where(pair < 0.0, n, 0)
    edges = np.concatenate(
        [np.stack([one, other + apart], axis=1), np.stack([one + n, other + n - apart], axis=1)]
    )
    graph = Graph(2 * n, edges, np.tile(0.25 * np.abs(pair), 2))
    drive = programme.single + 0.5 * (np.bincount(one, pair, n) + np.bincount(other, pair, n))
    numbers = np.concatenate([0.5 * drive, -0.5 * drive])
    flow = largest_flow(numbers, graph, graph.weights)
    left = np.maximum(numbers - graph.outflow(flow), 0.0).sum()
    constant = 0.5 * np.abs(pair[pair < 0.0]).sum() + 0.5 * drive.sum()
    # Sums of so many numbers, with either sign, that are no larger in all than the scale.
    rounding = 4.0 * np.finfo(float).eps * (n + 16) * programme.scale
    return float(constant + left + rounding)
