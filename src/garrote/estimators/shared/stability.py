"""Whether the same variables are selected again, in refits on random parts of the rows."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from garrote.arrays import Array
from garrote.estimators.given.arguments import Arguments
from garrote.limits.budgets import ENTRIES_REFITTED
from garrote.results.stability import Stability
from garrote.settings import check_count

# What a refit has of the rows, and how many refits there are where nobody said how many.
SHARE = 0.9
_REFITS = 20
# Fewer refits say nothing of how often a variable comes back.
_FEWEST = 2


def check_stability(stability: Any) -> None:
    """Refuse what is no number of refits."""
    if stability is not None and stability != "auto":
        check_count("stability", stability, _FEWEST)


def measure_stability(model: Any, given: Arguments) -> Stability | None:
    """Refit a fitted model on random parts of the rows, as often as its ``stability`` says.

    Each refit begins anew, as a start from the model's own solution would bring its variables back, but
    keeps the strength that was chosen. A row is left out by a weight of 0, so that X is never copied;
    where there are groups, all rows of a group are left out together. "auto" goes by the size of X
    alone, so that the same data have the same answer on every machine; of a large X it returns None.
    """
    entries = given.X.shape[0] * given.X.shape[1] if hasattr(given.X, "shape") else 0
    if model.stability == "auto" and entries > ENTRIES_REFITTED:
        return None
    count = _REFITS if model.stability == "auto" else int(model.stability)
    parts = list(_parts(model, given, count))
    alone: dict[str, Any] = {"stability": None, "callback": None}
    alone |= {"n_jobs": 1} if hasattr(model, "n_jobs") else {}
    refit = clone(model).set_params(**model._refit_settings(), **alone)
    threads = effective_n_jobs(getattr(model, "n_jobs", None) or -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to be warned of was said of the whole fit
        found = Parallel(n_jobs=threads, prefer="threads")(
            delayed(_selected)(clone(refit), given, part) for part in parts
        )
    return Stability(count, SHARE, np.sum(found, axis=0))


def _parts(model: Any, given: Arguments, count: int) -> Iterator[Array]:
    """Yield the weights of each refit: those given, and 0 for what is left out.

    Rows of labels are left out class by class, so that no class is ever missing.
    """
    y, known = np.asarray(given.y), given.sample_weight
    weights = np.ones(len(y)) if known is None else np.asarray(known, dtype=np.float64)
    seed = getattr(model, "random_state", None)
    settings = {"n_splits": count, "train_size": SHARE, "random_state": 0 if seed is None else seed}
    if given.groups is not None:
        splits = GroupShuffleSplit(**settings).split(y, y, given.groups)
    elif is_classifier(model):
        splits = StratifiedShuffleSplit(**settings).split(y, y)
    else:
        splits = ShuffleSplit(**settings).split(y)
    for kept, _ in splits:
        part = np.zeros_like(weights)
        part[kept] = weights[kept]
        yield part


def _selected(model: Any, given: Arguments, weights: Array) -> Array:
    """Return which variables a fit selects, as 0 and 1."""
    X, y, _, offset, groups, names = given
    model.fit(X, y, weights, offset=offset, groups=groups, feature_names=names)
    return np.asarray(model.selection_.selected, dtype=np.int64)
