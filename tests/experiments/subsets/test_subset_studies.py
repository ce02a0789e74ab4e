"""Best subsets, searches and pursuits: what the texts state of them comes out again."""

import numpy as np
import pytest

from garrote.experiments.subsets.prostate import KNOWN
from studies import quick_study

pytestmark = pytest.mark.study


def test_both_exact_solvers_forward_and_backward_give_the_nine_sums_of_the_prostate_data():
    numbers = quick_study("murphy-best-subsets").numbers
    np.testing.assert_allclose(numbers["enumerated"], KNOWN, atol=5e-5)
    for name in ("BestSubset", "leaps", "forward", "backward", "splicing"):
        np.testing.assert_allclose(numbers["squares"][name], KNOWN, atol=5e-5)
    assert max(numbers["gaps"]) == 0.0
    assert [len(members) for members in numbers["members"]] == list(range(9))
    assert all(a < b for a, b in zip(numbers["members"], numbers["members"][1:], strict=False))
    # What resembles the residual most is not always what lowers it most.
    worse = numbers["squares"]["OMP"] > numbers["enumerated"] * (1 + 1e-9)
    assert np.flatnonzero(worse).tolist() == [6]


def test_the_lecture_s_pursuits_keep_what_the_text_says_and_are_those_of_garrote():
    numbers = quick_study("lecture-omp").numbers
    for draw in numbers["draws"]:
        assert max(draw.mp.rule, draw.omp.rule, draw.mp.fall, draw.omp.orthogonal) < 1e-12
        assert max(draw.apart.values()) < 1e-12
        assert len(set(draw.omp.chosen)) == len(draw.omp.chosen)
        # A refit lowers the error by at least as much as one coefficient does.
        assert draw.omp.fall > 1e-6
    shares = numbers["shares"]
    assert (shares["best subset"] <= shares["OMP"] + 1e-12).all()
    assert any(len(set(draw.mp.chosen)) < len(draw.mp.chosen) for draw in numbers["draws"])
