"""Scale mixtures one by one: marginal densities and full conditionals against integration."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from garrote.priors.covariance_root import Chain, Diagonal
from garrote.priors.scale_mixture import (
    ElasticNetPrior,
    FusedLaplacePrior,
    GroupLaplacePrior,
    HALPrior,
    HorseshoePrior,
    LaplacePrior,
    NEGPrior,
    NormalGammaPrior,
    StudentPrior,
)
from garrote.scale_mixtures.laws import (
    HALLaw,
    HorseshoeLaw,
    LaplaceLaw,
    NEGLaw,
    NormalGammaLaw,
    StudentLaw,
)
from garrote.scale_mixtures.log_concave_draws import InverseGaussianFamily, TemperedBetaPrime, draw
from reference_shrinkage import (
    exponential,
    gamma,
    gamma_rate,
    half_cauchy,
    inverse_gamma,
    inverse_gamma_scale,
    marginal_density,
    variance_cdf,
)

LAWS = [
    (LaplaceLaw(), exponential),
    (NormalGammaLaw(0.3), gamma(0.3)),
    (NormalGammaLaw(2.5), gamma(2.5)),
    (StudentLaw(1.0), inverse_gamma(1.0)),
    (StudentLaw(4.0), inverse_gamma(4.0)),
    (HALLaw(1.0), inverse_gamma_scale(1.0)),
    (NEGLaw(0.5), gamma_rate(0.5)),
    (NEGLaw(3.0), gamma_rate(3.0)),
    (HorseshoeLaw(), half_cauchy),
]


def named(value):
    return str(value) if hasattr(value, "cost") else ""


def assert_drawn_from(drawn, cdf):
    """Kolmogorov and Smirnov's test; the seed is fixed, so that this fails always or never."""
    assert scipy.stats.kstest(drawn, cdf).pvalue > 1e-3


@pytest.mark.parametrize(("law", "mixing"), LAWS, ids=named)
@pytest.mark.parametrize("v", [1e-3, 0.2, 1.0, 6.0])
def test_the_marginal_density_is_the_integral_over_the_variance(law, mixing, v):
    stated = float(np.exp(law.log_density(np.array(-v))))
    assert stated == pytest.approx(marginal_density(mixing, v), rel=1e-5)


@pytest.mark.parametrize(("law", "mixing"), LAWS, ids=named)
@pytest.mark.parametrize("v", [1e-6, 0.1, 1.0, 8.0])
def test_variances_are_drawn_from_their_full_conditional(law, mixing, v):
    drawn = law.draw_variance(np.full(20_000, -v), np.random.default_rng(1))
    assert_drawn_from(drawn, variance_cdf(mixing, v))


@pytest.mark.parametrize(("law", "mixing"), LAWS, ids=named)
def test_the_slope_of_the_cost_is_the_size_times_the_expected_precision(law, mixing):
    """Exercise 13.8, by finite differences and by integration."""
    v, step = np.array([0.3, 2.0]), 1e-5
    slope = (law.cost(v + step) - law.cost(v - step)) / (2 * step)
    np.testing.assert_allclose(law.steepness(v), slope, rtol=1e-5)
    drawn = law.draw_variance(np.full(100_000, 2.0), np.random.default_rng(0))
    assert (1 / drawn).mean() == pytest.approx(law.steepness(v)[1] / 2.0, rel=0.02)


@pytest.mark.parametrize(("law", "mixing"), LAWS, ids=named)
def test_coefficients_of_zero_have_a_variance(law, mixing):
    drawn = law.draw_variance(np.zeros(100), np.random.default_rng(0))
    assert np.isfinite(drawn).all()
    assert (drawn >= 0).all()


def test_the_horseshoe_density_is_smooth_where_its_series_begins():
    law = HorseshoeLaw()
    v = np.sqrt(2 * np.array([499.9, 500.1]))
    before, after = law.log_density(v)
    assert after - before == pytest.approx(
        -float(law.steepness(v[:1])[0]) * np.diff(v)[0], rel=1e-3
    )
    assert np.isfinite(law.log_density(np.array([1e100]))).all()


@pytest.mark.parametrize("order", [-3.0, -0.2, 0.0, 0.5, 4.0])
@pytest.mark.parametrize("given", [1e-8, 0.3, 50.0])
def test_generalised_inverse_gaussian_draws_follow_their_law(order, given):
    drawn = draw(InverseGaussianFamily(order), np.full(20_000, given), np.random.default_rng(3))
    t = np.linspace(-60, 60, 60_001)
    with np.errstate(over="ignore"):
        density = np.exp(order * t - 0.5 * (np.exp(t) + given * np.exp(-t)))
    below = np.cumsum(density) / density.sum()
    assert_drawn_from(drawn, lambda x: np.interp(np.log(x), t, below))


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (0.6, 1.1), (6.0, 6.5)])
@pytest.mark.parametrize("given", [1e-12, 1e-3, 1.0, 40.0])
def test_tempered_beta_prime_draws_follow_their_law(first, second, given):
    drawn = draw(TemperedBetaPrime(first, second), np.full(20_000, given), np.random.default_rng(4))
    t = np.linspace(-60, 60, 60_001)
    with np.errstate(over="ignore"):
        density = np.exp(first * t - second * np.logaddexp(0, t) - given * np.exp(t))
    below = np.cumsum(density) / density.sum()
    assert_drawn_from(drawn, lambda x: np.interp(np.log(x), t, below))


def test_draws_with_parameters_of_their_own_are_those_of_one_parameter():
    given = np.tile([1e-4, 0.5, 30.0], 20_000)
    drawn = draw(TemperedBetaPrime(1.0, 1.0), given, np.random.default_rng(5))
    for k, own in enumerate(given[:3]):
        alone = draw(TemperedBetaPrime(1.0, 1.0), np.full(20_000, own), np.random.default_rng(6))
        assert scipy.stats.ks_2samp(drawn[k::3], alone).pvalue > 1e-3


def test_a_group_has_one_variance_drawn_by_its_length():
    """Exercise 13.10: tau^2 ~ Ga((d + 1) / 2, 1 / 2) makes exp(-||v||)."""
    groups = np.array([0, 1, 0, 0, 1])
    v = np.array([0.5, 2.0, -1.0, 0.1, 0.0])
    prior = GroupLaplacePrior(groups=groups)
    rng = np.random.default_rng(7)
    roots = np.array([prior.draw_root(v, rng).deviation for _ in range(5000)])
    np.testing.assert_array_equal(roots[:, [0, 0, 1]], roots[:, [2, 3, 4]])
    for column, members in ((0, groups == 0), (1, groups == 1)):
        size = int(members.sum())
        cdf = variance_cdf(gamma((size + 1) / 2), np.linalg.norm(v[members]), size)
        assert_drawn_from(roots[:, column] ** 2, cdf)


def test_a_group_of_gamma_variances_is_a_laplace_law_of_its_length():
    lengths = np.array([0.3, 1.0, 2.5])
    for size in (2, 5):
        log_t = np.linspace(-40, 20, 12_001)
        t = np.exp(log_t)
        mixing = gamma((size + 1) / 2)(t) * t ** (1 - size / 2)
        density = [
            scipy.integrate.trapezoid(mixing * np.exp(-0.5 * r**2 / t), log_t) for r in lengths
        ]
        np.testing.assert_allclose(
            np.log(density[0] / np.array(density)), lengths - lengths[0], rtol=1e-6
        )


def test_the_elastic_net_adds_its_ridge_to_every_precision():
    prior, v = ElasticNetPrior(l1_ratio=0.4), np.array([0.7])
    rng = np.random.default_rng(8)
    variance = np.array([prior.draw_root(v, rng).variance[0] for _ in range(10_000)])
    assert (variance < 1 / 0.6).all()
    own = 1 / (1 / variance - 0.6)
    assert_drawn_from(0.4**2 * own, variance_cdf(exponential, 0.4 * v[0]))


def test_the_fused_prior_has_the_tridiagonal_precision_of_its_equations():
    """Eqs. 13.120 and 13.121."""
    rng = np.random.default_rng(9)
    own, between = rng.exponential(size=6), rng.exponential(size=5)
    precision = np.diag(own)
    for j, tie in enumerate(between):
        precision[j : j + 2, j : j + 2] += tie * np.array([[1, -1], [-1, 1]])
    root = Chain.of_precisions(own, between)
    dense = np.array([root.times(row) for row in np.eye(6)]).T
    np.testing.assert_allclose(dense @ dense.T, np.linalg.inv(precision), rtol=1e-10)
    np.testing.assert_allclose(root.variance, 1 / np.diag(precision))
    rows, gram = rng.standard_normal((3, 6)), rng.standard_normal((6, 6))
    np.testing.assert_allclose(root.after(rows), rows @ dense)
    np.testing.assert_allclose(root.around(gram), dense.T @ gram @ dense)


def test_stiff_ties_cost_a_chain_no_digits():
    """Three coefficients that are one: its precision is the sum of theirs."""
    root = Chain.of_precisions(np.array([1.0, 2.0, 3.0]), np.array([1e150, 1e150]))
    dense = np.array([root.times(row) for row in np.eye(3)]).T
    np.testing.assert_allclose(dense @ dense.T, np.full((3, 3), 1 / 6), rtol=1e-12)


def test_a_diagonal_root_is_a_chain_without_ties():
    rng = np.random.default_rng(10)
    own = rng.exponential(size=4)
    chain, diagonal = Chain.of_precisions(own, np.zeros(3)), Diagonal(own**-0.5)
    gram = rng.standard_normal((4, 4))
    np.testing.assert_allclose(chain.around(gram), diagonal.around(gram))
    np.testing.assert_allclose(chain.variance, diagonal.variance)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: HorseshoePrior(scale=0.0), "scale of a HorseshoePrior must be positive"),
        (lambda: LaplacePrior(scale="large"), "must be positive and finite, got 'large'"),
        (lambda: LaplacePrior(scale=True), "must be positive and finite, got True"),
        (lambda: LaplacePrior(scale=1.0, typical_scale=2.0), "give it or scale, not both"),
        (lambda: StudentPrior(degrees=-1), "degrees of a StudentPrior must be positive"),
        (lambda: NEGPrior(shape=np.inf), "shape of a NEGPrior"),
        (lambda: NormalGammaPrior(shape=0), "shape of a NormalGammaPrior"),
        (lambda: HALPrior(shape=np.nan), "shape of a HALPrior"),
        (lambda: ElasticNetPrior(l1_ratio=1.5), "must be at most 1, got 1.5"),
        (
            lambda: FusedLaplacePrior(l1_ratio=0.0),
            "l1_ratio of a FusedLaplacePrior must be positive",
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()
