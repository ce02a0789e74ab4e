"""``python -m garrote.demo``: choose among 64 variables for the progression of diabetes."""

import time
from dataclasses import replace

from garrote import VariationalGarrote
from garrote.datasets import load_diabetes_quadratic
from garrote.summaries import Summary


def main() -> None:
    """Fit the Variational Garrote to the diabetes table and print what it selects."""
    X, y, names = load_diabetes_quadratic()
    print(
        f"Diabetes (Efron et al. 2004): {X.shape[0]} patients, {X.shape[1]} variables: 10 measurements\n"
        "in standard deviations, their squares and products. The response is the progression of\n"
        f"the disease after a year, from {y.min():.0f} to {y.max():.0f}.\n"
    )
    start = time.perf_counter()
    model = VariationalGarrote().fit(X, y)
    seconds = time.perf_counter() - start
    # An array carries no names (a data frame would): they are given to the table here.
    print(Summary(model.summary().facts, replace(model.selection_, names=names).table()))
    path = model.path_
    print(
        f"\nThe path has {len(path)} gammas from {path.strengths[0]:.1f} to {path.strengths[-1]:.1f}, "
        f"with {path.expected_size[0]:.2g} to {path.expected_size[-1]:.2g} variables\n"
        f"expected in the model. Path and cross-validation took {seconds:.1f} s, compilation included."
    )


if __name__ == "__main__":
    main()
