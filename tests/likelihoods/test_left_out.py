"""What log likelihoods leave out: with it they are log densities that add up to 1."""

import numpy as np
import pytest
from scipy.special import expit

from garrote import SparseRegressor
from garrote.likelihoods import Binomial, Gaussian, Huber, Poisson, Probit
from garrote.likelihoods.base import log_likelihood


@pytest.mark.parametrize(
    ("likelihood", "values"),
    [(Poisson(), np.arange(60.0)), (Binomial(), np.arange(2.0)), (Probit(), np.arange(2.0))],
)
@pytest.mark.parametrize("eta", [-1.0, 0.3, 2.0])
def test_probabilities_of_all_responses_add_up(likelihood, values, eta):
    logs = [
        float(log_likelihood(likelihood, y, eta)) - likelihood.left_out(np.array([y]))[0]
        for y in values
    ]
    assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-10)


def test_probit_is_measured_on_rows_held_out_and_a_loss_that_is_no_density_is_refused():
    assert Gaussian().left_out(np.ones(2)) is None
    assert Huber().left_out(np.ones(2)) is None
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = (rng.random(120) < expit(2 * X[:, 0])).astype(float)
    model = SparseRegressor(family="probit").fit(X, y).validate(X, y, cv=3)
    assert model.selection_.validation.mean[0] < model.selection_.validation.null
    with pytest.raises(ValueError, match="family='huber' has no predictive density to measure"):
        SparseRegressor(family="huber").fit(X, X[:, 0] + y).validate(X, X[:, 0] + y, cv=3)
