"""Whether an effect is there: columns that cannot matter are left out, and nothing changes."""

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from garrote.solvers.effects.existence import Sizes, with_doubt
from garrote.solvers.effects.single_effect_regression import (
    log_bayes_factors,
    single_effect_regression,
)


@pytest.mark.parametrize("z", [0.0, 2.0, 4.0, 9.0, 40.0])
@pytest.mark.parametrize("uneven", [False, True])
def test_the_probability_to_be_there_is_that_of_the_sum_over_all_columns(z, uneven):
    rng, D = np.random.default_rng(3), 400
    curvature = rng.uniform(0.01, 100.0, D) if uneven else np.full(D, 100.0)
    products = rng.standard_normal(D) * np.sqrt(curvature)
    products[5] = z * np.sqrt(curvature[5])
    log_prior = np.full(D, -np.log(D))
    effect = single_effect_regression(products, curvature, log_prior, 0.05)
    found = with_doubt([effect], log_prior, 100.0)[0]

    typical = float(effect.probability @ curvature)
    sizes = Sizes.around(0.05, typical, 100.0)
    places = np.linspace(sizes.low, sizes.high, 33)
    shares = np.full(33, 1.0 / 32)
    shares[[0, -1]] /= 2.0
    each = [
        logsumexp(log_prior + log_bayes_factors(products**2, curvature, np.exp(v))) for v in places
    ]
    expected = expit(logsumexp(each, b=shares))
    assert found.probability.sum() == pytest.approx(expected, rel=1e-9)
