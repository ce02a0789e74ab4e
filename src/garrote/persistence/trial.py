"""Ask a loaded model once for what will be asked of it.

Types and shapes are checked by `garrote.persistence.checks`, as far as classes declare them. What they
leave open, an entry less in a dictionary say, shows here, while the file can still be named.
"""

import inspect
import warnings
from typing import Any

import numpy as np

from garrote.persistence.archive import ModelFileError


def try_answers(model: Any) -> None:
    """Predict two rows, and make table, summary and document; whatever fails, fails now."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if hasattr(model, "selection_"):
            str(model.selection_.summary())  # the table is in it
            model.selection_.to_json()
        for posterior in getattr(getattr(model, "posterior_", ()), "each", ()):
            posterior.sample(2, random_state=0)
            if posterior.substitutes is not None:
                posterior.credible_sets()
        # Nothing can be predicted after a fit to z-scores.
        if not hasattr(model, "consistency_"):
            _try_predictions(model)


def _try_predictions(model: Any) -> None:
    if hasattr(model, "recover"):  # signals of measurements, in place of predictions of rows
        answers = model.basis_operator @ model.coefficients_
        if not np.allclose(answers.reshape(np.shape(model.signal_)), model.signal_):
            raise ModelFileError("its signal is not that of its coefficients")
        return
    if hasattr(model, "restore"):  # a picture of the size of one patch
        model.restore(np.zeros(model.patch_shape_))
        return
    rows = np.zeros((2, model.n_features_in_))  # one row would go with an array of any length
    if not hasattr(model, "predict"):
        columns = np.shape(model.transform(rows))[1]
        if hasattr(
            model, "selection_"
        ):  # a selector, whose transform has the columns that it selects
            return
        if columns != model._n_features_out:
            raise ModelFileError(f"it has {columns} columns in place of {model._n_features_out}")
        return
    answers = {"predict": model.predict(rows)}
    if "return_std" in inspect.signature(model.predict).parameters:
        answers["the deviation of predict"] = model.predict(rows, return_std=True)[1]
    if hasattr(model, "predict_proba"):
        answers["predict_proba"] = chances = model.predict_proba(rows)
        if chances.shape[1:] != np.shape(model.classes_):
            raise ModelFileError(f"classes_ has shape {np.shape(model.classes_)}")
    # Classes that were words of a data frame are Python's own, and so are predictions then.
    words = np.asarray(getattr(model, "classes_", 0.0)).dtype.kind == "O"
    for name, found in answers.items():
        expected = words and name == "predict"
        odd = not isinstance(found, np.ndarray) or (found.dtype.kind == "O") != expected
        if odd or found.shape[:1] != (2,):
            raise ModelFileError(
                f"its parts do not fit together: {name} gives {type(found).__name__}"
            )
