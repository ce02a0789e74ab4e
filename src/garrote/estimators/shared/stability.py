"""Whether the same variables are selected again, in refits on random parts of the rows."""

import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone, is_classifier

from garrote.arrays import Array
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.condensing import condense_rows
from garrote.results.selections.stability import Stability
from garrote.selecting.control.resampling import SHARE, parts_of_rows
from garrote.settings import check_count

# How many refits there are where nobody said how many.
_REFITS = 20
# Fewer refits say nothing of how often a variable comes back.
_FEWEST = 2
# With fewer rows a tenth of them is next to nothing, and refits are made on request only.
_FEWEST_ROWS = 20

_NOT_REFITTED = (
    "there are no refits: parts of the rows cannot be fitted by themselves (few rows or groups, or a "
    "class of few)"
)


def check_stability(stability: Any) -> None:
    """Refuse what is no number of refits."""
    if stability is not None and stability != "auto":
        check_count("stability", stability, _FEWEST)


def measure_stability(model: Any, given: Arguments) -> Stability | None:
    """Refit a fitted model on random parts of the rows, as often as its ``stability`` says.

    Each refit begins anew, as a start from the model's own solution would bring its variables back, but
    keeps the strength that was chosen. A row is left out by a weight of 0, so that X is never copied;
    where there are groups, all rows of a group are left out together. "auto" goes by the size of X
    alone, so that the same data have the same answer on every machine; of a large X, and of fewer than
    20 rows, it returns None.
    """
    y, known = np.asarray(given.y), given.sample_weight
    weights = np.ones(len(y)) if known is None else np.asarray(known, dtype=np.float64)
    rows, automatic = int((weights > 0).sum()), model.stability == "auto"
    entries = rows * model.n_features_in_
    if automatic and not (rows >= _FEWEST_ROWS and entries <= model._entries_refitted):
        return None
    count = _REFITS if automatic else int(model.stability)
    classes = y if is_classifier(model) else None
    seed = getattr(model, "random_state", None)
    parts = parts_of_rows(weights, count, seed, classes, given.groups)
    alone: dict[str, Any] = {"stability": None, "callback": None}
    alone |= {"n_jobs": 1} if hasattr(model, "n_jobs") else {}
    refit = clone(model).set_params(**model._refit_settings(), **alone)
    threads = effective_n_jobs(getattr(model, "n_jobs", None) or -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to be warned of was said of the whole fit
        tried = Parallel(n_jobs=threads, prefer="threads")(
            delayed(_selected)(clone(refit), *_condensed(refit, given, part)) for part in parts
        )
    found = [one for one in tried if one is not None]
    if len(found) < _FEWEST:
        warnings.warn(_NOT_REFITTED, UserWarning, stacklevel=3)
        return None
    return Stability(len(found), SHARE, np.sum(found, axis=0))


def _condensed(model: Any, given: Arguments, weights: Array) -> tuple[Arguments, Array]:
    """Return a part of the rows with its weights; of a large table, the small one in its place."""
    try:
        small = condense_rows(model, given._replace(sample_weight=weights))
    except ValueError:
        small = None  # the fit will say the same
    return (given, weights) if small is None else (small.given, small.given.sample_weight)


def _selected(model: Any, given: Arguments, weights: Array) -> Array | None:
    """Return which variables a fit selects, as 0 and 1; None where a part of the rows has no fit.

    That may lack a class, or all but a few rows, though the whole has them.
    """
    X, y, _, offset, groups, names = given
    try:
        model.fit(X, y, weights, offset=offset, groups=groups, feature_names=names)
    except ValueError:
        return None
    return np.asarray(model.selection_.selected, dtype=np.int64)
