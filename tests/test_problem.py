"""A problem has a likelihood and an offset, whatever its response is."""

import numpy as np
import pytest

from garrote import Problem, fit_path
from garrote.likelihoods import Binomial, Gaussian, Huber, Poisson, Probit
from garrote.likelihoods.multinomial import Multinomial
from garrote.likelihoods.several import SeveralResponses
from garrote.penalties import L1


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X, offset = rng.standard_normal((40, 6)), rng.standard_normal(40)
    return X, X[:, 0] + offset + rng.standard_normal(40), offset, rng.integers(0, 3, 40) + 0.0


def responses(rows):
    """Return every likelihood with a response of its kind."""
    _, y, _, _ = rows
    labels = (y > 0).astype(float)
    return [
        (Gaussian(), y),
        (Huber(scale=1.0), y),
        (Binomial(), labels),
        (Probit(), labels),
        (Poisson(), np.round(np.abs(y))),
    ]


@pytest.mark.parametrize("likelihood", [Gaussian(), Huber(scale=1.0), SeveralResponses(2)])
def test_an_offset_is_taken_off_a_response_that_it_is_added_to(rows, likelihood):
    X, y, offset, weights = rows
    if likelihood.several:
        y, offset = np.c_[y, y**2], np.c_[offset, -offset]
    one = Problem.from_rows(X, y, weights, likelihood=likelihood, offset=offset)
    two = Problem.from_rows(X, y - offset, weights, likelihood=likelihood)
    for name in ("response", "xty", "yty", "curvature", "known_part"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.offset, offset.T)
    assert two.offset is None
    assert not one.known_part.any()


@pytest.mark.parametrize("likelihood", [Binomial(), Probit(), Poisson()])
def test_other_responses_stay_as_they_are_beside_their_offset(rows, likelihood):
    X, _, offset, weights = rows
    y = dict(responses(rows))[likelihood]
    settings = {"covariates": [2], "sample_weight": weights}
    problem = Problem.from_rows(X, y, likelihood=likelihood, offset=offset, **settings)
    as_numbers = Problem.from_rows(X, y, **settings)
    np.testing.assert_array_equal(problem.response, y)
    np.testing.assert_array_equal(problem.known_part, offset)
    for name in ("xty", "yty", "curvature", "usable", "n"):
        np.testing.assert_array_equal(getattr(problem, name), getattr(as_numbers, name))
    assert (problem.scale.response_mean, problem.scale.response_scale) == (0.0, 1.0)
    np.testing.assert_array_equal(problem.scale.covariates, [2])


def test_a_problem_by_moments_is_gaussian(rows):
    X, y, _, _ = rows
    problem = Problem.from_moments(X.T @ X, X.T @ y, y @ y, len(y))
    assert problem.likelihood.least_squares
    assert len(problem.known_part) == 0


def test_rows_of_weight_zero_may_hold_anything_and_errors_count_all_rows(rows):
    X, y, _, _ = rows
    labels, weights = (y > 0).astype(float), np.ones(40)
    labels[3], labels[7], weights[3] = 5.0, 6.0, 0.0
    with pytest.raises(ValueError, match="needs labels 0 and 1 in y, got"):
        Problem.from_rows(X, labels, weights, likelihood="binomial")
    weights[7] = 0.0
    assert Problem.from_rows(X, labels, weights, likelihood="binomial").response[3] == 5.0
    counts = np.arange(40.0)
    counts[9], counts[20], weights[9] = -1.0, 0.5, 0.0
    with pytest.raises(ValueError, match=r"needs counts .* got 0.5 at row 20 \(1 in all\)"):
        Problem.from_rows(X, counts, weights, likelihood="poisson")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"offset": np.zeros(3)}, r"offset must hold finite numbers in an array of shape \(40,\)"),
        ({"offset": np.full(40, np.nan)}, "offset must hold finite numbers"),
        ({"offset": np.full(40, 1e4), "likelihood": "poisson"}, "probabilities and rates"),
        ({"likelihood": "logistic"}, "family must be one of"),
        ({"likelihood": None}, "family must be one of"),
        ({"y": np.zeros((40, 2))}, "y must have 40 entries"),
        ({"y": np.zeros((40, 1)), "likelihood": "binomial"}, "y must have 40 entries"),
    ],
)
def test_what_cannot_be_meant_is_refused(rows, given, said):
    X, y, _, _ = rows
    with pytest.raises(ValueError, match=said):
        Problem.from_rows(X, **{"y": np.abs(np.round(y)), **given})


def test_methods_refuse_what_they_have_no_answer_to(rows):
    X, y, _, _ = rows
    labels = (y > 0).astype(float)
    beside = Problem.from_rows(X, labels, likelihood="binomial", covariates=[1])
    with pytest.raises(ValueError, match="covariates cannot be projected out of a binomial"):
        fit_path(beside, L1(), 3)
    with pytest.raises(
        ValueError, match="a garrote's path is of a Gaussian response, got binomial"
    ):
        fit_path(beside)
    with pytest.raises(ValueError, match="needs every class 0 to 2"):
        Problem.from_rows(X, labels, likelihood=Multinomial(3))
