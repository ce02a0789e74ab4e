"""Documents for the tests of the report: a real one, and what becomes of it in bad hands."""

import copy
import json
from functools import cache

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from garrote import (
    SingleEffectsRegressor,
    SparseClassifier,
    SparseRegressor,
    SpikeSlabRegressor,
    VariationalGarrote,
)
from garrote.datasets import load_diabetes_quadratic
from garrote.inference import Sample
from garrote.paths import FollowPath
from garrote.penalties import GroupLasso
from garrote.results.selections.curves import Curve
from garrote.results.selections.groups import VariableGroups
from garrote.tables.terms.splines import curve as bends

OPTIONAL = ("path", "validation", "predictions", "stand_ins")

HOSTILE = (
    "<script>window.broken = 1</script>",
    "</script><script>window.broken = 2</script>",
    '"><img src=x onerror="window.broken = 3">',
    "' onmouseover='window.broken = 4",
    "{{7*7}}",
    "{% raw %}",
    "x" * 10_000,
    "\u05e9\u05dc\u05d5\u05dd (x)",
    "\u202eevil\u202c\u2067",
    "line\nbreak\ttab\x00nul\u2028",
    "\U0001f469\u200d\U0001f52c",
    "",
    "__proto__",
    "constructor",
    "toString",
    "<!--<script>",
    "&lt;b&gt;",
    "\ud800",
    "javascript:alert(1)",
)


@cache
def _diabetes() -> str:
    X, y, names = load_diabetes_quadratic()
    frame, response = pd.DataFrame(X, columns=list(names)), pd.Series(y, name="progression")
    return (
        VariationalGarrote(cv=KFold(5), random_state=7, correct=False)
        .fit(frame, response)
        .selection_.to_json()
    )


def diabetes():
    """Return the document of the diabetes table, as read from a file."""
    return json.loads(_diabetes())


@cache
def _bayesian(method: str) -> str:
    X, y, names = load_diabetes_quadratic()
    frame = pd.DataFrame(X, columns=list(names)).iloc[:, :10]
    way = Sample(n_steps=3000) if method == "sample" else method
    model = SpikeSlabRegressor(method=way, covariates=["sex"], random_state=0)
    return model.fit(frame, pd.Series(y, name="progression")).selection_.to_json()


def bayesian(method="enumerate"):
    """Return the document of a method without path and validation."""
    return json.loads(_bayesian(method))


@cache
def _penalised(penalty: str) -> str:
    X, y, names = load_diabetes_quadratic()
    frame, response = pd.DataFrame(X, columns=list(names)), pd.Series(y, name="progression")
    return SparseRegressor(penalty, rule="1se").fit(frame, response).selection_.to_json()


def penalised(penalty="lasso"):
    """Return the document of a penalised path, whose evidence is no probability."""
    return json.loads(_penalised(penalty))


def classified():
    """Return the document of a classifier of words."""
    X, y, names = load_diabetes_quadratic()
    words = pd.Series(["worse" if value > 140 else "better" for value in y], name="state")
    model = SparseClassifier(method=FollowPath(alphas=30), rule="1se").fit(
        X, words, feature_names=names
    )
    return json.loads(model.selection_.to_json())


@cache
def _several_classes() -> str:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6)) * [1, 10, 100, 1, 1, 1]
    scores = X[:, :3] / [1, 10, 100] + 0.7 * rng.standard_normal((120, 3))
    words = pd.Series(np.array(["ant", "bee", "cat"])[scores.argmax(axis=1)], name="animal")
    frame = pd.DataFrame(X, columns=list("abcdef"))
    return (
        SparseClassifier(method=FollowPath(alphas=20), rule="1se")
        .fit(frame, words)
        .selection_.to_json()
    )


def several_classes():
    """Return the document of labels of three classes, of columns in very different units."""
    return json.loads(_several_classes())


@cache
def _with_levels() -> str:
    rng = np.random.default_rng(0)
    site, dose = rng.integers(0, 4, 150), rng.gamma(2.0, size=150)
    levels = [(site == k).astype(float) for k in (1, 2, 3)]
    X = np.column_stack([*levels, rng.normal(size=150), dose, *bends(dose).values(dose[:, None]).T])
    y = np.array([0.0, 2.0, -1.0, 3.0])[site] + np.sin(dose) + 0.3 * rng.normal(size=150)
    names = ["site=Bonn", "site=Koeln", "site=Trier", "age", "dose"]
    names += [f"dose (curve)[{k}]" for k in (1, 2, 3)]
    groups = VariableGroups(
        names=("site", "age", "dose", "dose (curve)"),
        number=np.array([0, 0, 0, 1, 2, 3, 3, 3]),
        kinds=("levels", "column", "column", "curve"),
        references=("Aachen", None, None, None),
        labels=("Bonn", "Koeln", "Trier", *names[3:]),
        parents={"dose (curve)": ("dose",)},
    )
    x = np.linspace(0.1, 8.0, 40)
    curve = Curve("dose", ("dose", "dose (curve)"), x, np.sin(x), np.sin(x) - 0.4, np.sin(x) + 0.4)
    model = SparseRegressor(GroupLasso(groups.number.tolist()), stability=4)
    model.fit(pd.DataFrame(X, columns=names), pd.Series(y, name="yield"))
    return model.selection_.annotated(groups=groups, curves=(curve,)).to_json()


def with_levels():
    """Return the document of a word with its levels, and of an effect that is a curve."""
    return json.loads(_with_levels())


@cache
def _validated() -> str:
    X, y, names = load_diabetes_quadratic()
    frame, response = (
        pd.DataFrame(X, columns=list(names)).iloc[:, :8],
        pd.Series(y, name="progression"),
    )
    model = SpikeSlabRegressor().fit(frame, response)
    return model.validate(frame, response, cv=3).selection_.to_json()


def validated():
    """Return the document of a Bayesian method that was measured on rows held out."""
    return json.loads(_validated())


@cache
def _fine_mapped() -> str:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 40))
    X[:, 11] = X[:, 10] + 0.05 * rng.standard_normal(300)
    X[:, 12] = X[:, 10] + 0.05 * rng.standard_normal(300)
    y = 0.5 * X[:, 10] - 0.5 * X[:, 30] + rng.standard_normal(300)
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    r = X.T @ y / 300
    z = r * np.sqrt(298 / (1 - r**2))
    model = SingleEffectsRegressor().fit_zscores(z, X.T @ X / 300, 300, mismatch=0)
    return model.selection_.to_json()


def fine_mapped():
    """Return the document of z-scores with a set of three variables that resemble each other."""
    return json.loads(_fine_mapped())


def tiny_effects():
    document = diabetes()
    for variable in document["variables"]:
        for key in ("effect", "standard_error", "lower", "upper"):
            variable[key] = None if variable[key] is None else 1e-7 * variable[key]
    return document


def without_optional_parts():
    return {**diabetes(), **dict.fromkeys(OPTIONAL)}


def nothing_selected():
    document = diabetes()
    document.update(n_selected=0, interchangeable={}, warnings=[])
    for variable in document["variables"]:
        variable.update(selected=False, probability=0.01 * variable["probability"], effect=0.0)
        variable.update(standard_error=None, lower=None, upper=None)
    document["stand_ins"]["near"] = []
    document["path"]["chosen"] = 0
    return document


def hostile():
    """Return the real document with hostile names wherever a name can be."""
    document = diabetes()
    listed = [v["name"] for v in document["variables"]]
    document = _renamed(document, dict(zip(listed, HOSTILE, strict=False)))
    document["response"] = HOSTILE[1]
    document["method"] = "<b>bold</b>"
    document["always_in"] = [HOSTILE[3]]
    document["interchangeable"] = {HOSTILE[0]: list(HOSTILE), "__proto__": ["constructor"]}
    document["warnings"] = [f"{name} could be replaced by {name}" for name in HOSTILE]
    document["provenance"]["settings"][HOSTILE[0]] = HOSTILE[1]
    document["models"] = models_of(HOSTILE, 4)
    return document


def models_of(names, count):
    """Return models of some names: each has one variable less than the one before."""
    effects = [
        [(-1.0) ** k if k >= model else None for k in range(len(names))] for model in range(count)
    ]
    return {
        "probability": [0.9 / count] * count,
        "size": [sum(effect is not None for effect in row) for row in effects],
        "variables": list(names),
        "positions": list(range(len(names))),
        "effect": effects,
    }


def _renamed(document, names):
    for variable in document["variables"]:
        variable["name"] = names.get(variable["name"], variable["name"])
    for part in (document["path"], document["stand_ins"]):
        part["variables"] = [names.get(name, name) for name in part["variables"]]
    for near in document["stand_ins"]["near"]:
        near["variable"] = names.get(near["variable"], near["variable"])
    return document


def enormous():
    """Return a document beyond all that a page can hold: rows, names and strengths."""
    document = diabetes()
    first = document["variables"][0]
    document["variables"] = [
        {**copy.copy(first), "name": f"{j}" + "\U0001f9ec<" * 5000, "position": j}
        for j in range(3000)
    ]
    document["n_variables"], document["n_selected"] = 100_000, 3000
    path, count = document["path"], 500
    path["strengths"] = [float(k) for k in range(count)]
    path["chosen"] = 333
    for key in ("probability", "effect", "expected_size"):
        path[key] = [path[key][0]] * count
    path["energies"] = {branch: [1.0] * count for branch in path["energies"]}
    path["hysteresis"] = None
    for key in ("mean", "standard_error"):
        document["validation"][key] = [1.0] * count
    document["predictions"]["predicted"] = [document["predictions"]["predicted"][0]] * count
    document["models"] = models_of([v["name"] for v in document["variables"][:300]], 200)
    return document
