"""The code in CONTRIBUTING.md runs as printed and does what it says."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from garrote.designs.gram import GramColumns
from garrote.likelihoods import Binomial
from garrote.paths.annealed import fit_path
from garrote.penalties import L1, Terms
from garrote.problem import Problem
from garrote.rules import Residual, shrink
from garrote.solvers.descent.sweep import sweep

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"


@pytest.fixture(scope="module")
def printed():
    """The names defined by the page's Python blocks."""
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL):
        exec(block, names)  # the page is ours
    return names


def test_the_printed_rule_is_the_lasso(printed):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = X[:, 0] - 2 * X[:, 3] + rng.standard_normal(60)
    gram, gradient = X.T @ X, X.T @ y
    rule = printed["SoftThreshold"](np.full(8, 20.0))
    coef, target = np.zeros(8), np.zeros(8)
    residual = Residual(gradient.copy(), np.zeros(1), np.zeros(1))
    for _ in range(200):
        sweep(
            GramColumns(gram), rule, np.arange(8), coef, target, residual, np.diag(gram).copy(), 0.0
        )
    expected = Lasso(alpha=20.0 / 60, fit_intercept=False, tol=1e-12).fit(X, y).coef_
    np.testing.assert_allclose(coef, expected, atol=1e-8)


@pytest.mark.parametrize("likelihood", [None, Binomial()])
def test_the_printed_penalty_gives_certified_paths(printed, likelihood):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100, 20))
    y = X[:, 0] - X[:, 3] + rng.standard_normal(100)
    y = y if likelihood is None else (y > 0).astype(float)
    problem = Problem.from_rows(X, y, scale_response=False, likelihood=likelihood)
    path = fit_path(problem, printed["CappedL1"](0.3), 12)
    assert path.certificate.max() < 1e-8
    assert path.size[0] == 0 < path.size[4] < 20
    lasso = fit_path(problem, L1(), path.strengths)
    uncapped = fit_path(problem, printed["CappedL1"](1e6), path.strengths)
    np.testing.assert_allclose(
        uncapped.coefficients().toarray(), lasso.coefficients().toarray(), atol=1e-6
    )


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (-0.2, 0.5)])
def test_the_printed_penalty_minimises_its_scalar_objective(printed, bounds):
    rule = printed["CappedL1"](0.4).at(1.0, Terms(*(np.array([v]) for v in (1.0, *bounds))))
    for curvature in (0.5, 1.0, 3.0):
        for z in np.linspace(-2.5, 2.5, 41):
            w = np.append(np.clip(np.linspace(-3, 3, 2001), *bounds), shrink(rule, 0, z, curvature))
            objective = 0.5 * curvature * (w - z) ** 2 + np.minimum(np.abs(w), 0.4)
            assert objective[-1] <= objective.min() + 1e-12


def test_the_printed_design_gives_the_dense_path(printed):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 3, size=(80, 400)).astype(np.int8)
    y = 0.5 * counts[:, 3] - 0.5 * counts[:, 17] + 0.2 * rng.standard_normal(80)
    own = fit_path(Problem.from_rows(printed["IntegerDesign"](counts, 0.5), y), strengths=12)
    dense = fit_path(Problem.from_rows(0.5 * counts, y), strengths=12)
    np.testing.assert_allclose(
        own.coefficients().toarray(), dense.coefficients().toarray(), atol=1e-4
    )
