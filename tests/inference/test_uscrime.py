"""The classic 2^15 posterior: crime in 47 states, all models summed, beside what R's BMS finds."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

from garrote import SpikeSlabRegressor
from garrote.experiments.data import published_table
from garrote.priors import GPrior

BMS = json.loads((Path(__file__).parents[1] / "data" / "uscrime_bms.json").read_text())
# BMS's name for the prior on g, ours, and how far its inclusion probabilities, means and deviations may
# be off. Its hyper-g rests on approximations: sums over all models with g integrated by quadrature agree
# with ours to 1e-8, and differ from BMS by 3e-5, and by 3e-3 in its standard deviations.
PRIORS = [("UIP", 47.0, 1e-8, 1e-8), ("EBL", "eb", 1e-8, 1e-8), ("hyper=3", "hyper-g", 5e-5, 4e-3)]


@pytest.fixture(scope="module")
def crime():
    (*names, response), values = published_table("MASS", "UScrime")
    X, y = values[:, :-1], values[:, -1]
    assert response == "y"
    assert names == BMS["names"]
    kept = np.array(names) == "So"  # the only column that is no amount
    return np.where(kept, X, np.log(np.where(kept, 1.0, X))), np.log(y)


def fitted(crime, g):
    return SpikeSlabRegressor(GPrior(g), "enumerate", inclusion=0.5).fit(*crime)


@pytest.mark.parametrize(("theirs", "ours", "tol", "spread_tol"), PRIORS)
def test_inclusion_probabilities_and_coefficients_are_those_of_bms(
    crime, theirs, ours, tol, spread_tol
):
    model, found = fitted(crime, ours), BMS[theirs]
    np.testing.assert_allclose(model.inclusion_probability_, found["inclusion"], atol=tol)
    np.testing.assert_allclose(model.coef_, found["mean"], atol=tol)
    assert len(model.posterior_.support) == 15
    np.testing.assert_allclose(model.posterior_.standard_error, found["deviation"], atol=spread_tol)


@pytest.mark.parametrize(("theirs", "ours", "tol", "spread_tol"), PRIORS)
def test_the_best_models_are_those_of_bms(crime, theirs, ours, tol, spread_tol):
    posterior, found = fitted(crime, ours).posterior_, BMS[theirs]
    best = posterior.law.models
    for members, names in zip(best.members, found["members"], strict=False):
        assert [BMS["names"][j] for j in members] == names
    np.testing.assert_allclose(best.probability[:10], found["probability"], atol=tol)
    assert [BMS["names"][j] for j in posterior.most_probable_model] == found["members"][0]


def test_odds_under_hyper_g_are_those_of_quadrature(crime):
    X, y = (values - values.mean(axis=0) for values in crime)
    found = fitted(crime, "hyper-g").posterior_.law.models

    def evidence(members):
        """Integrate Liang et al.'s Eq. 17 over g with a = 3, relative to the null model."""
        size, rows = len(members), len(y) - 1
        left = y - X[:, members] @ np.linalg.lstsq(X[:, members], y, rcond=None)[0]
        unexplained = left @ left / (y @ y)

        def integrand(u):  # g = exp(u)
            g = np.exp(u)
            logs = 0.5 * (rows - size) * np.log1p(g) - 0.5 * rows * np.log1p(g * unexplained)
            return 0.5 * np.exp(logs - 1.5 * np.log1p(g) + u)

        return quad(integrand, -20, 40, points=[0, 3, 6], epsabs=0, epsrel=1e-11, limit=500)[0]

    values = np.array([evidence(members) for members in found.members[:8]])
    np.testing.assert_allclose(
        found.probability[:8] / found.probability[0], values / values[0], rtol=1e-7
    )
