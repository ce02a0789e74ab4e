"""Variational Optimization: what its figures and tables state comes out again."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from studies import quick_study

pytestmark = pytest.mark.study


def test_the_average_lasso_has_its_least_beside_zero_and_close_to_any_other_optimum():
    optima = quick_study("vo-figure-1").numbers["optima"]
    zero, beside = optima["(b)"]
    assert zero == 0.0
    assert (np.diff(beside) > 0).all()
    assert 0 < beside[0] < 0.03
    far, close = optima["(c)"]
    assert far == 0.75
    assert abs(close[0] - far) < 1e-10


def test_the_average_adds_most_at_zero():
    numbers = quick_study("vo-figure-2").numbers
    np.testing.assert_allclose(numbers["ours"], numbers["printed"], atol=1e-14)
    assert numbers["ours"].argmax() == 0
    assert numbers["ours"][0] == pytest.approx(np.sqrt(2 / np.pi))
    by_hand = quad(lambda w: abs(w) * norm.pdf(w, 1.0), -9, 11, points=[0.0])[0] - 1.0
    assert numbers["ours"][2] == pytest.approx(by_hand, abs=1e-9)
