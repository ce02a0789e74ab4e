"""The horizontal axis of all pictures of a path: the strength below, the number of variables above.

For gamma the axis is linear in its signed square root. A variable comes in where gamma passes
-z^2 / 2, z being its effect in standard errors, so that distances on the axis are distances in z;
on a linear axis the few strongest variables would fill it. For alpha, which is laid out in equal
ratios, it is logarithmic. This module needs matplotlib.
"""

from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter, Locator, LogLocator, NullLocator

from garrote.arrays import Floats
from garrote.displays.figures import mark_position
from garrote.displays.names import LITERAL, number

_LABELS = {
    "gamma": "prior log odds of inclusion, gamma",
    "alpha": "strength of the penalty, alpha",
    "size": "variables in the model",
    "steps": "steps of the search",
    "price": "price of a variable",
    "bound": "bound of the shrinkage factors' sum",
}
_SIZES = {
    "gamma": "expected number of variables in the model",
    "alpha": "number of coefficients that are not 0",
}
_MOST_TICKS = 9
_MOST_CANDIDATES = 200
_DECADES = 6
# Less round numbers are not sought once this share of the ticks that have room is there.
_ENOUGH = 0.6


def signed_root(values: Any) -> Any:
    """Return the square root of the size, with the sign."""
    return np.sign(values) * np.sqrt(np.abs(values))


def signed_square(values: Any) -> Any:
    """Return the square of the size, with the sign."""
    return np.sign(values) * np.square(values)


class RootLocator(Locator):
    """Round numbers, about evenly spaced in their signed square root: the roundest come first."""

    def __call__(self) -> Any:
        assert self.axis is not None
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Take multiples of ever smaller steps where they keep their distance from those taken."""
        low, high = sorted((vmin, vmax))
        room = self.axis.get_tick_space() if self.axis is not None else _MOST_TICKS
        count = int(np.clip(room, 3, _MOST_TICKS))
        apart = (signed_root(high) - signed_root(low)) / count
        if not apart > 0:
            return np.array([low])
        ticks: list[float] = []
        power = 10.0 ** np.ceil(np.log10(max(abs(low), abs(high))))
        for step in (power * lead * 10.0**-k for k in range(_DECADES) for lead in (1, 0.5, 0.2)):
            if len(ticks) > _ENOUGH * count or (high - low) / step > _MOST_CANDIDATES:
                break
            for tick in step * np.arange(np.ceil(low / step), np.floor(high / step) + 1):
                if all(abs(signed_root(tick) - signed_root(one)) >= apart for one in ticks):
                    ticks.append(float(tick))
        return np.sort(ticks)


def set_strength_axis(axes: Any, strengths: Floats, strength: str, label: bool = True) -> None:
    """Scale, limit and label the horizontal axis."""
    if strength == "gamma":
        axes.set_xscale("function", functions=(signed_root, signed_square))
        axes.xaxis.set_major_locator(RootLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x, 6)))
    elif strength in ("alpha", "price") and len(strengths) > 1 and np.all(strengths > 0):
        axes.set_xscale("log")
        axes.xaxis.set(major_locator=_by_ratios(), minor_locator=NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: number(x, 6)))
    low, high = float(strengths[0]), float(strengths[-1])
    reach = 0.0 if high != low else max(1.0, 0.1 * abs(low))
    axes.set_xlim(low - reach, high + reach)
    if label:
        axes.set_xlabel(_LABELS.get(strength, strength), **LITERAL)


def add_size_axis(axes: Any, strengths: Floats, expected_size: Floats, strength: str) -> Any:
    """Write above the axes how large the model is: expected, or counted where that is certain."""
    above = axes.secondary_xaxis("top")
    rising = np.argsort(strengths)  # a penalty falls along its path
    x_known, sizes = strengths[rising], expected_size[rising]
    above.set_xscale(axes.get_xscale(), **_scale_settings(axes))
    if axes.get_xscale() == "log":
        above.xaxis.set(major_locator=_by_ratios(), minor_locator=NullLocator())
    else:
        above.xaxis.set_major_locator(type(axes.xaxis.get_major_locator())())

    def size(x: float, _: int) -> str:
        inside = x_known[0] <= x <= x_known[-1]
        return _count(np.interp(x, x_known, sizes)) if inside else ""

    above.xaxis.set_major_formatter(FuncFormatter(size))
    above.set_xlabel(_SIZES["gamma" if strength == "gamma" else "alpha"], fontsize="small")
    above.tick_params(labelsize="small")
    return above


def _by_ratios() -> LogLocator:
    return LogLocator(subs=(1.0, 2.0, 5.0))


def _scale_settings(axes: Any) -> dict[str, Any]:
    if axes.get_xscale() != "function":
        return {}
    return {"functions": (signed_root, signed_square)}


def _count(size: float) -> str:
    return f"{size:.0f}" if size >= 10 or size < 0.05 else f"{size:.1f}".removesuffix(".0")


def mark_chosen(axes: Any, value: float, label: bool = True) -> tuple[Any, Any]:
    """Draw a line at the strength in use; return it and its label."""
    return mark_position(axes, value, f"chosen: {number(value)}" if label else "")
