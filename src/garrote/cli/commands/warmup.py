"""``garrote warmup``: compile the kernels that fits use, once for this machine."""

import argparse
import time

from garrote.cli.errors import DONE


def run(options: argparse.Namespace) -> int:
    """Fit small problems of every kind, so that later processes find compiled code on disk."""
    from garrote.cli.console import say, warnings_kept

    start = time.perf_counter()
    with warnings_kept():
        compile_methods()
        compile_priors()
    say(f"Compiled in {time.perf_counter() - start:.1f} s; later fits start at once.")
    return DONE


def compile_methods() -> None:
    """Fit every selector as it is by default, but for priors that shrink: `compile_priors`."""
    import numpy as np
    import scipy.sparse

    from garrote.datasets import load_diabetes_quadratic
    from garrote.estimators.registry import SELECTORS

    X, y, _ = load_diabetes_quadratic()
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((60, 600))
    response = wide[:, 0] + 0.5 * rng.standard_normal(60)
    problems = [(X, y), (wide, response), (np.asfortranarray(wide), response)]
    problems += [(scipy.sparse.csc_array(np.where(np.abs(wide) > 1, wide, 0.0)), response)]
    for method in [row for name, row in SELECTORS.items() if name != "shrinkage"]:
        for kind in (np.float64, np.float32):
            for given, target in problems:
                method.load()().fit(given.astype(kind), target)


def compile_priors() -> None:
    """Draw a few coefficients under every prior that shrinks, by columns and by rows.

    Among the columns are near copies, for which there are moves of their own.
    """
    import numpy as np

    from garrote import ShrinkageRegressor
    from garrote.inference import Gibbs
    from garrote.priors import SHRINKAGE_PRIORS, GroupLaplacePrior

    rng = np.random.default_rng(0)
    for columns in (6, 150):
        X = rng.standard_normal((40, columns))
        X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
        y = X[:, 0] + rng.standard_normal(40)
        for name in SHRINKAGE_PRIORS:
            groups = GroupLaplacePrior(groups=np.arange(columns) // 2)
            prior = groups if name == "group-laplace" else name
            short = Gibbs(n_steps=100, burn_in=0, n_chains=1)
            ShrinkageRegressor(prior, short, random_state=0).fit(X, y)
