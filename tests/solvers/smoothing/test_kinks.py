import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from garrote.solvers.smoothing.kinks import KINKS, absolute_slope, absolute_value

T = np.linspace(-3.0, 3.0, 61)


@pytest.mark.parametrize("name", KINKS)
@pytest.mark.parametrize("width", [0.05, 0.7])
class TestEveryKink:
    def test_lies_above_the_kink_by_its_surplus_at_most(self, name, width):
        above = KINKS[name].value(T, width) - np.maximum(T, 0.0)
        assert above.min() >= -1e-16
        assert above.argmax() == 30
        assert above.max() == pytest.approx(KINKS[name].surplus * width, rel=1e-14)

    def test_derivatives_are_those_of_finite_differences(self, name, width):
        t = T[np.abs(np.abs(T) - width) > 1e-3]
        kink, h = KINKS[name], 1e-5 * width
        slope = (kink.value(t + h, width) - kink.value(t - h, width)) / (2 * h)
        curvature = (kink.slope(t + h, width) - kink.slope(t - h, width)) / (2 * h)
        assert kink.slope(t, width) == pytest.approx(slope, abs=1e-8)
        assert kink.curvature(t, width) == pytest.approx(curvature, abs=1e-7 / width)

    def test_is_the_kink_far_away(self, name, width):
        far = np.array([-1e6, 1e6])
        assert KINKS[name].value(far, width) == pytest.approx([0.0, 1e6], rel=1e-14, abs=3e-7)
        assert absolute_value(KINKS[name], far, width) == pytest.approx([1e6, 1e6])
        assert absolute_slope(KINKS[name], far, width) == pytest.approx([-1.0, 1.0])

    def test_takes_a_width_for_each_point(self, name, width):
        widths = np.linspace(width, 2 * width, len(T))
        several = KINKS[name].value(T, widths)
        one_by_one = [float(KINKS[name].value(t, w)) for t, w in zip(T, widths, strict=True)]
        assert several == pytest.approx(one_by_one)


def test_gaussian_kink_is_an_expectation():
    for t in (-1.0, 0.0, 0.3):
        mean = quad(lambda x, t=t: max(x, 0.0) * norm.pdf(x, t, 0.5), 0.0, 8.0)[0]
        assert KINKS["gaussian"].value(np.array(t), 0.5) == pytest.approx(mean, rel=1e-7)


def test_gaussian_kink_keeps_its_digits_far_to_the_left():
    scaled = quad(lambda x: x * np.exp(-20.0 * x - 0.5 * x * x), 0.0, 3.0, epsabs=0)[0]
    exact = scaled * norm.pdf(20.0)
    assert KINKS["gaussian"].value(np.array(-20.0), 1.0) == pytest.approx(exact, rel=1e-9)
