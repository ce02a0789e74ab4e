"""Posteriors of relevance determination, from rows and from moments."""

import numpy as np
import pytest

from garrote import Problem
from garrote.inference import infer
from garrote.priors import RelevancePrior


def test_moments_answer_as_rows_do():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 9))
    y = 2 * X[:, 0] - X[:, 3] + rng.standard_normal(80)
    Z, left = X - X.mean(axis=0), y - y.mean()
    moments = Problem.from_moments(Z.T @ Z, Z.T @ left, float(left @ left), len(y))
    # The mean has taken a row, which moments do not know of: it matters to an unknown noise alone.
    prior = RelevancePrior(noise_variance=1.0)
    found = infer(moments, prior).posterior
    assert found.mean == pytest.approx(
        infer(Problem.from_rows(X, y), prior).posterior.mean, abs=1e-6
    )
    assert found.noise_variance == pytest.approx(1.0)


@pytest.mark.parametrize("method", ["sequential", "fixed-point", "em", "reweighted-l1"])
def test_a_response_without_content_leaves_every_variable_out_of_doubt(method):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 4))
    X[:, 2] = 3.0
    found = infer(Problem.from_rows(X, rng.standard_normal(50)), RelevancePrior(), method)
    assert found.certificate.value < 1e-2
    assert found.posterior.mean[2] == 0.0
    assert found.posterior.sign_probability[2] == 0.5
