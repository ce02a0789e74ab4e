"""What becomes of one column of a table inside a term: itself, its levels, a function of it, splines.

A shape holds the numbers that it took from the rows fitted to (centres, knots), so that new rows have
the same done to them, and is written as plain values, never as code.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.interpolate import BSpline

from garrote.arrays import Floats
from garrote.tables.errors import TableError

FUNCTIONS: dict[str, Callable[[Floats], Floats]] = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "exp": np.exp,
    "sqrt": np.sqrt,
    "abs": np.abs,
}
"""Functions of a number that a formula may have."""


class Shape:
    """What becomes of the columns of numbers that one column of a table was coded as."""

    name: ClassVar[str]

    def values(self, block: Floats) -> Floats:
        """Return new columns, given those of the table's column."""
        raise NotImplementedError

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        """Return names of the new columns; ``text`` is how the factor is written."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"shape": self.name, **asdict(self)}  # type: ignore[call-overload]


@dataclass(frozen=True)
class Scaled(Shape):
    """A number less its centre, over its scale; by default the number itself."""

    centre: float = 0.0
    scale: float = 1.0
    name: ClassVar[str] = "scaled"

    def values(self, block: Floats) -> Floats:
        if self.centre == 0.0 and self.scale == 1.0:
            return block
        return np.asarray((block - self.centre) / self.scale)

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return (text,)


@dataclass(frozen=True)
class Parts(Shape):
    """The columns of numbers that a date was coded as, as they are."""

    name: ClassVar[str] = "parts"

    def values(self, block: Floats) -> Floats:
        return block

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return outputs


@dataclass(frozen=True)
class Levels(Shape):
    """Indicators of the levels of a column of words; with ``reference``, that one's too and first."""

    reference: str | None = None
    name: ClassVar[str] = "levels"

    def values(self, block: Floats) -> Floats:
        if self.reference is None:
            return block
        return np.column_stack([1.0 - block.sum(axis=1), block])

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return outputs if self.reference is None else (f"{text}={self.reference}", *outputs)


@dataclass(frozen=True)
class Function(Shape):
    """A function of a number, by its name."""

    function: str
    name: ClassVar[str] = "function"

    def values(self, block: Floats) -> Floats:
        with np.errstate(all="ignore"):  # what is not finite is refused, with its column's name
            return np.asarray(FUNCTIONS[self.function](block))

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return (text,)


@dataclass(frozen=True)
class Power(Shape):
    """A power of a number."""

    exponent: float
    name: ClassVar[str] = "power"

    def values(self, block: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return np.asarray(np.power(block, self.exponent))

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return (text,)


@dataclass(frozen=True)
class Splines(Shape):
    """Mixtures of B-splines of a number.

    ``knots`` are all of them, those at the ends repeated; ``mix`` has a row for each B-spline and a
    column for each new column. Beyond the ends columns go on as straight lines if ``straight``, else as
    the polynomials that they are inside.
    """

    knots: tuple[float, ...]
    degree: int
    mix: tuple[tuple[float, ...], ...]
    straight: bool = True
    name: ClassVar[str] = "splines"

    def to_dict(self) -> dict[str, Any]:
        lists = {"knots": list(self.knots), "mix": [list(row) for row in self.mix]}
        return {**super().to_dict(), **lists}

    def values(self, block: Floats) -> Floats:
        x = block[:, 0]
        splines = BSpline(np.array(self.knots), np.array(self.mix), self.degree, extrapolate=True)
        if not self.straight:
            return np.asarray(splines(x))
        inside = np.clip(x, self.knots[0], self.knots[-1])
        found = splines(inside)
        beyond = np.flatnonzero(inside != x)
        if len(beyond):
            slope = splines.derivative()(inside[beyond])
            found[beyond] += slope * (x - inside)[beyond, None]
        return np.asarray(found)

    def labels(self, text: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{text}[{k + 1}]" for k in range(len(self.mix[0])))


_SHAPES: dict[str, Any] = {
    kind.name: kind for kind in (Scaled, Parts, Levels, Function, Power, Splines)
}


def shape_from_dict(written: Mapping[str, Any]) -> Shape:
    """Make a shape from what `Shape.to_dict` returned."""
    settings = dict(written)
    kind = settings.pop("shape")
    if kind not in _SHAPES:
        raise TableError(f"the model has a term of an unknown shape, {kind!r}: update garrote")
    if kind == "splines":
        settings["knots"] = tuple(map(float, settings["knots"]))
        settings["mix"] = tuple(tuple(map(float, row)) for row in settings["mix"])
    if kind == "function" and settings["function"] not in FUNCTIONS:
        raise ValueError(f"function {settings['function']!r}")
    made: Shape = _SHAPES[kind](**settings)
    return made
