"""Settings that several estimators have, described once: `documented` writes them into docstrings."""

import re
from typing import TypeVar

Estimator = TypeVar("Estimator", bound=type)

# The descriptions, as they stand under "Parameters"; the name of each is its first word.
_SETTINGS = """
inclusion : float, array of shape (D,), pair of floats or law of `garrote.priors`, optional
    Which variables are in, a priori: with a known probability (`IndependentInclusion`), with one
    shared probability of law Beta(a, b) (`BetaInclusion`), or such that so many are expected
    (`ExpectedSize`). `GroupedInclusion` has columns in or out in groups, such as the levels of a
    word, under a Gaussian slab that does not depend on their coding; methods are then "enumerate",
    "sample" and "metropolis". Variables hang together under `TwoLevelInclusion`,
    `CategoryInclusion`, `ChainInclusion`, `GraphInclusion` and `HeredityInclusion` (those methods,
    and "mean-field" of numbers); `AnnotatedInclusion` learns by how much annotations raise odds. By
    default Beta(1, sqrt(D)): few variables are expected, and little
    is assumed on how few. Of the laws compared in the documentation it gives the best calibrated
    probabilities.

covariates : sequence of column names or positions, or a mask, optional
    Columns that are always in the model, with flat priors.

covariates_of_labels : sequence of column names or positions, or a mask, optional
    Columns that are always in the model, with N(0, 100) for their coefficients.

prior_log_odds : array of shape (D,), or mapping from columns to numbers, optional
    Added to the prior log odds, variable by variable.

fit_intercept : bool, default=True
    Whether there is an intercept, with a flat prior and without a penalty.

standardize : bool, default=True
    Whether columns count in units of their standard deviation; coefficients return in those of the
    data.

n_jobs : int, optional
    Threads.

random_state : int, RandomState instance or None
    The seed of chains and searches.

stability : int or "auto", optional
    So many fits to random 90 % of the rows, each anew but with the strength that was chosen; the
    selection then says in how many of them a variable was selected again. "auto" takes 20 for an X
    of up to 300,000 entries (of labels and counts 10,000, but for penalties), and none beyond.

callback : callable, optional
    Called with a `Progress` (stage, done, total).

penalty : str or object of `garrote.penalties`, default="lasso"
    What is charged for a coefficient: a name with default settings, or a penalty object.
    ``ElasticNet(l1_ratio=[.1, .5, .9])`` has one of these chosen with alpha.

alpha : float, {"cv", "bic", "ebic"}, object of `garrote.paths` or None, default="cv"
    The strength: given, chosen by cross-validation or by an information criterion. ``Bound(3.0)`` is
    that at which the penalty is 3, ``PriorRate(10.0)`` that of a Laplace prior beside noise that EM
    learns. With None the path alone is fitted, and its last point exposed.

penalty_factor : float, array of shape (D,), or mapping from columns to numbers, optional
    Factors of each column's penalty; 0 means always in.

bounds : pair (lower, upper), optional
    Bounds of the coefficients, in the units of the data; 0 has to be allowed. Each of the two is a
    number, an array of shape (D,), a mapping from columns to numbers, or None for none.

refit : bool or float, default=False
    True replaces the coefficients by those of an unpenalised fit to the columns found (debiasing); a
    share mixes both (the relaxed lasso).

follow : str or `garrote.paths.FollowPath`, default="coordinate"
    How the path is followed: a solver's name ("coordinate", "homotopy", "least-angle" or a classical
    one such as "fista"), or an object that also has the grid of alphas, and when a fit is good
    enough.
"""
# Descriptions of settings that another estimator has by the same name, and means otherwise.
_RENAMED = {"follow": "method", "covariates_of_labels": "covariates"}


def _described() -> dict[str, str]:
    found = {}
    for block in _SETTINGS.strip().split("\n\n"):
        key, _, rest = block.partition(" : ")
        found[key] = f"{_RENAMED.get(key, key)} : {rest}"
    return found


def documented(estimator: Estimator) -> Estimator:
    """Write descriptions in place of the lines ``{name}`` of an estimator's docstring."""
    described = _described()

    def put(line: re.Match[str]) -> str:
        lines = described[line[2]].splitlines()
        return "\n".join(line[1] + one for one in lines)

    if estimator.__doc__:  # which python -OO leaves out
        estimator.__doc__ = re.sub(r"^( *)\{(\w+)\}$", put, estimator.__doc__, flags=re.MULTILINE)
    return estimator
