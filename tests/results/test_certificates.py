"""One class of certificates: what its value is, its parts by name, and how it reads."""

import numpy as np
import pytest

from garrote.results.certificates import (
    EQUATIONS,
    GAP,
    OPTIMALITY,
    equations,
    monte_carlo,
    of_all_models,
    of_draws,
    of_fitted_models,
    of_search,
    optimality,
    with_refit,
)


@pytest.mark.parametrize(
    ("certificate", "value", "parts", "said"),
    [
        (equations({"inclusion": 2e-6, "weight": 3e-5}), 3e-5, {"inclusion", "weight"},
         "3.0e-05 (inclusion 2.0e-06, weight 3.0e-05)"),
        (optimality(2e-9, 1e-7), 2e-9, {"duality gap", "violation"},
         "2.0e-09 (duality gap; largest violation 1.0e-07)"),
        (optimality(np.nan, 1e-7), 1e-7, {"violation"}, "1.0e-07 (largest violation of optimality)"),
        (monte_carlo(0.01, 0.02, 1.5), 0.02, {"Monte Carlo error", "between chains", "halves of chains"},
         "2.0e-02 (error 1.0e-02, between chains 2.0e-02, split R-hat 1.500)"),
        (monte_carlo(0.01, 0.02), 0.02, {"Monte Carlo error", "between chains"},
         "2.0e-02 (error 1.0e-02, between chains 2.0e-02)"),
        (of_draws(0.05, 1.01), 0.05, {"error of a mean", "halves of chains"},
         "5.0e-02 (of a posterior deviation, split R-hat 1.010)"),
        (of_all_models(1e-9, 1e-3), 1e-3, {"log probability", "slab variance"},
         "1.0e-03 (exact sum over all models)"),
        (of_all_models(1e-9), 1e-9, {"log probability"}, "1.0e-09 (exact sum over all models)"),
        (of_search(0.1, 1e-9), 0.1, {"found late", "log probability"},
         "1.0e-01 (the last tenth of the search added 1.0e-01)"),
        (of_fitted_models(1e-9, 1e-3), 1e-3, {"log probability", "gradient"},
         "1.0e-03 (log probability 1.0e-09, gradient 1.0e-03)"),
    ],
)  # fmt: skip
def test_a_certificate_says_what_has_to_be_small(certificate, value, parts, said):
    assert certificate.value == value
    assert set(certificate.parts) == parts
    assert str(certificate) == said


def test_parts_are_read_by_name():
    certificate = equations({"inclusion": 2e-6, "weight": 3e-5})
    assert certificate.kind == EQUATIONS
    assert certificate["inclusion"] == 2e-6
    with pytest.raises(KeyError, match="gap"):
        certificate["gap"]


def test_a_refit_is_covered_too_and_has_a_gap_only_where_both_have_one():
    both = with_refit(optimality(1e-8, 1e-6), optimality(1e-7, 1e-9))
    assert (both.kind, both["duality gap"], both["violation"]) == (GAP, 1e-7, 1e-6)
    one = with_refit(optimality(1e-8, 1e-6), optimality(np.nan, 1e-5))
    assert (one.kind, one.value) == (OPTIMALITY, 1e-5)
