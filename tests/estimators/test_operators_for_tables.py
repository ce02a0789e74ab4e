"""Every estimator gives, for an operator in place of X, the answer for the matrix itself."""

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from sklearn.base import clone, is_classifier

from every_estimator import EVERY_ESTIMATOR
from pairwise import pairwise

MODELS = {type(model).__name__: model for model in EVERY_ESTIMATOR}


def is_possible(model, covariates, standardize, **others):
    """Tell whether an estimator has the settings that a combination asks for."""
    known = MODELS[model].get_params(deep=False)
    return not (covariates and "covariates" not in known) and not (
        standardize is not None and "standardize" not in known
    )


# Roundings of relevance of labels grow as its variances converge: to 2e-9 here between a matrix in rows
# and the same in columns.
TOLERANCE = {"RelevanceClassifier": 1e-8}
PAIRS = pairwise(
    {
        "model": list(MODELS),
        "wide": [True, False],
        "weighted": [True, False],
        "offset": [True, False],
        "covariates": [True, False],
        "standardize": [None, True, False],
    },
    is_possible,
)
# Seconds with more columns than rows, and a moment with fewer.
NARROW = {"RelevanceClassifier", "VariationalGarroteClassifier"}
# One configuration of each estimator is for every day, that with the most of it.
FULLEST = {
    name: max(
        (row for row in PAIRS if row["model"] == name),
        key=lambda row: (
            row["weighted"] + row["offset"] + row["covariates"] + (row["wide"] != (name in NARROW))
        ),
    )
    for name in MODELS
}


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, marks=() if row == FULLEST[row["model"]] else pytest.mark.slow)
        for row in PAIRS
    ],
    ids=lambda row: ", ".join(str(value) for value in row.values()),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:.*rows")
def test_an_operator_gives_the_answer_for_its_matrix(row):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 80 if row["wide"] else 12)) + 0.5
    y = X[:, 3] - X[:, 7] + 0.3 * rng.standard_normal(60)
    model = clone(MODELS[row["model"]])
    settings = {"covariates": [2] if row["covariates"] else None, "standardize": row["standardize"]}
    known = model.get_params(deep=False)
    model.set_params(
        **{name: value for name, value in settings.items() if name in known and value is not None}
    )
    given = {"sample_weight": rng.integers(0, 3, 60).astype(float) if row["weighted"] else None}
    new = {}
    if row["offset"]:
        given["offset"], new["offset"] = 0.3 * rng.standard_normal(60), np.linspace(0, 1, 9)
    if is_classifier(model):
        y = np.where(y > np.median(y), "high", "low")
    own, dense = clone(model), clone(model)
    own.fit(aslinearoperator(X), y, **given)
    dense.fit(X, y, **given)
    assert np.abs(dense.coef_).max() > 0.01
    within = TOLERANCE.get(row["model"], 1e-10)
    np.testing.assert_allclose(own.coef_, dense.coef_, rtol=within, atol=within)
    np.testing.assert_allclose(own.intercept_, dense.intercept_, rtol=within, atol=within)
    assert own.get_support().tolist() == dense.get_support().tolist()
    rows = rng.standard_normal((9, X.shape[1]))
    predicted = own.predict(aslinearoperator(rows), **new)
    if is_classifier(model):
        assert predicted.tolist() == dense.predict(rows, **new).tolist()
    else:
        np.testing.assert_allclose(predicted, dense.predict(rows, **new), rtol=1e-10, atol=1e-10)
    picked = own.transform(aslinearoperator(rows))
    np.testing.assert_allclose(picked.some_rows(np.arange(9)), dense.transform(rows))
