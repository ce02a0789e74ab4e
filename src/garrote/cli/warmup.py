"""``garrote warmup``: compile the kernels that fits use, once for this machine."""

import argparse
import time

from garrote.cli.errors import DONE


def run(options: argparse.Namespace) -> int:
    """Fit small problems of every kind, so that later processes find compiled code on disk."""
    import numpy as np
    import scipy.sparse

    from garrote.cli.console import say, warnings_kept
    from garrote.datasets import load_diabetes_quadratic
    from garrote.estimators.registry import METHODS

    start = time.perf_counter()
    X, y, _ = load_diabetes_quadratic()
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((60, 600))
    response = wide[:, 0] + 0.5 * rng.standard_normal(60)
    problems = [(X, y), (wide, response), (np.asfortranarray(wide), response)]
    problems += [(scipy.sparse.csc_array(np.where(np.abs(wide) > 1, wide, 0.0)), response)]
    for method in METHODS.values():
        for kind in (np.float64, np.float32):
            for given, target in problems:
                with warnings_kept():
                    method.load()().fit(given.astype(kind), target)
    say(f"Compiled in {time.perf_counter() - start:.1f} s; later fits start at once.")
    return DONE
