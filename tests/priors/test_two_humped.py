"""The evidence of slabs of two humps, against sums over grids."""

import numpy as np
import pytest
from scipy.integrate import quad

from garrote import SpikeSlabRegressor
from garrote.priors import GaussianSlab, TwoHumpedSlab
from garrote.priors.evidence import log_evidence
from garrote.priors.evidence.humps import log_integral, log_signed_evidence, noise_powers
from reference_humps import log_evidence_by_coefficients, model_law


def _exact_log_integral(n, x):
    """Return log of the integral of u^(n-1) exp(-u^2/2 + x u), without log(2 pi) / 2."""
    u = 0.5 * (x + np.sqrt(x * x + 4 * n))
    top, wide = n * np.log(u) - u * u / 2 + x * u, 40 / np.sqrt(u * u + n)

    def density(s):
        return np.exp(n * (np.log(u) + s) - np.exp(2 * s) * u * u / 2 + x * u * np.exp(s) - top)

    options = {"epsabs": 1e-14, "epsrel": 1e-13, "limit": 500}
    parts = quad(density, -wide, 0, **options)[0] + quad(density, 0, wide, **options)[0]
    return top + np.log(parts) - 0.5 * np.log(2 * np.pi)


@pytest.mark.parametrize(("n", "off"), [(6.0, 5e-6), (10.0, 5e-7), (30.0, 5e-9), (300.0, 1e-11)])
@pytest.mark.parametrize("x", [-20.0, -3.0, 0.0, 1.0, 8.0, 60.0])
def test_integral_over_the_noise_is_that_of_quadrature(n, off, x):
    assert log_integral(n, x) == pytest.approx(_exact_log_integral(n, x), rel=1e-13, abs=off)


@pytest.mark.parametrize("separation", [0.5, 0.9])
@pytest.mark.parametrize("noise", [None, 0.7])
def test_reference_agrees_with_a_grid_over_coefficients(separation, noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    y = X @ [1.0, -0.7] + 0.8 * rng.standard_normal(12)
    brute = log_evidence_by_coefficients(X, y, 1.3, separation, noise)
    assert model_law(X, y, 1.3, separation, noise)[0] == pytest.approx(brute, abs=1e-9)


def test_without_separation_the_evidence_is_that_of_the_gaussian_slab():
    for noise in (None, 0.5):
        given = {"noise_variance": noise, "shape": 1.5, "rate": 0.2}
        plain = GaussianSlab(2.0, **given).rule(30, 40.0, 5)
        signed = TwoHumpedSlab(2.0, separation=0.0, **given).signed_rule(30, 40.0)
        for size, log_det, left in ((0, 0.0, 40.0), (3, 9.0, 11.0)):
            two = log_signed_evidence(signed, size, log_det, left, 0.3, 0.2) + size * np.log(2)
            assert two == pytest.approx(log_evidence(plain, size, log_det, left), abs=1e-10)
        rule = TwoHumpedSlab(2.0, separation=0.0, **given).rule(30, 40.0, 5)
        assert type(rule) is type(plain)


def test_mean_noise_without_humps_is_that_of_the_inverse_gamma_law():
    rule = TwoHumpedSlab(2.0, separation=0.0).signed_rule(30, 40.0)
    assert noise_powers(rule, 12.0, 0.0)[1] == pytest.approx(6.0 / 14.0, rel=1e-8)


def test_separations_out_of_range_are_refused():
    for bad in (-0.1, 0.995, np.nan):
        with pytest.raises(ValueError, match="separation of a TwoHumpedSlab must lie between"):
            TwoHumpedSlab(separation=bad)


@pytest.mark.parametrize("method", ["search", "em"])
def test_methods_without_signs_refuse_two_humps(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    with pytest.raises(ValueError, match="has no slab of two humps"):
        SpikeSlabRegressor(TwoHumpedSlab(), method).fit(X, X[:, 0] + rng.standard_normal(30))


def test_probabilities_of_shapes_add_up_to_one():
    logs = [log for log, _ in TwoHumpedSlab().shapes()]
    assert np.exp(logs).sum() == pytest.approx(1.0)
