"""The user's function, called with many points at once, its answers checked and counted."""

from collections.abc import Callable
from typing import Any

import numpy as np

from garrote.arrays import Floats
from garrote.proximal.inputs import like, namespace

# Coordinates of a point, and letters of an answer, that messages show.
_SHOWN, _WORDS = 5, 40
# Squares of larger values overflow.
_LARGEST = 1e150


class Objective:
    """f and its derivative on arrays of the library, the type and the device of ``template``.

    What goes out to f are points as rows; what comes back are NumPy arrays in float64. ``derivative`` is
    a function of points, "autograd" (PyTorch's), or None.
    """

    def __init__(self, f: Callable[[Any], Any], derivative: Any, batched: bool, template: Any):
        if not callable(f):
            raise TypeError(f"f must be a function of points, got {f!r}")
        self._f, self._derivative, self._batched = f, derivative, batched
        self._template, self.evaluations = template, 0
        self._table: Floats | None = None
        if isinstance(derivative, str):
            self._check_autograd()

    @property
    def has_slopes(self) -> bool:
        """Whether derivatives are known."""
        return self._derivative is not None

    def place(self, numbers: Any) -> Any:
        """Return numbers as an array that f takes."""
        return like(self._template, numbers)

    def values(self, points: Any) -> Floats:
        """Return f at some points, one a row; refuse answers that cannot be averaged."""
        self.evaluations += points.shape[0]
        # A copy, as f may work in place.
        given = namespace(points).asarray(points, copy=True)
        found = self._f(given) if self._batched else [*map(self._f, _single(given))]
        values = _real(found)
        if values.shape != (points.shape[0],):
            count, columns = points.shape
            raise ValueError(
                f"f must return one number for each of its points, an array of shape ({count},) for "
                f"points of shape ({count}, {columns}), got shape {values.shape}: sum over axis 1, or "
                "say batched=False where f takes one point"
            )
        if not np.isfinite(values).all():
            first = int(np.argmin(np.isfinite(values)))
            raise ValueError(
                f"f returned {values[first]} at x = {shown(points[first, ...])}: averages need finite "
                "values. Give a large number where x is not allowed, or a smaller sigma"
            )
        if (np.abs(values) > _LARGEST).any():
            first = int(np.argmax(np.abs(values) > _LARGEST))
            raise ValueError(
                f"f returned {values[first]:.3g} at x = {shown(points[first, ...])}: numbers beyond "
                f"{_LARGEST:g} are refused, as their squares overflow; rescale f"
            )
        return values

    def value(self, point: Floats) -> float:
        """Return f at one point of NumPy."""
        return float(self.values(self.place(point[None, :]))[0])

    def all_states(self, count: int) -> Floats:
        """Return f at all states of some switches, one axis each; computed once."""
        if self._table is None:
            states = (np.arange(2**count)[:, None] >> np.arange(count)[::-1]) & 1
            values = self.values(self.place(states.astype(float)))
            self._table = values.reshape((2,) * count)
        return self._table

    def slopes(self, points: Any) -> Floats:
        """Return the derivative of f at some points, one a row."""
        self.evaluations += points.shape[0]
        found = (
            self._autograd(points) if self._derivative == "autograd" else self._derivative(points)
        )
        slopes = to_numpy(found)
        if slopes.shape != tuple(points.shape):
            raise ValueError(
                f"derivative must return an array of shape {tuple(points.shape)} like its points, got "
                f"{slopes.shape}"
            )
        if not np.isfinite(slopes).all():
            first = int(np.argmin(np.isfinite(slopes).all(axis=1)))
            raise ValueError(
                f"the derivative of f is not finite at x = {shown(points[first, ...])}: leave it out, "
                "values alone are enough"
            )
        return slopes

    def _autograd(self, points: Any) -> Any:
        torch = namespace(points)
        with torch.enable_grad():
            points = points.detach().requires_grad_(True)
            values = [self._f(points)] if self._batched else [*map(self._f, _single(points))]
            if not all(getattr(value, "requires_grad", False) for value in values):
                raise TypeError(
                    "derivative='autograd' needs an f that PyTorch can follow, but what it returned "
                    f"({type(values[0]).__name__}) has no way back to x: compute it from x by functions "
                    "of torch, without detach(), or leave derivative out, as values are enough"
                )
            total = torch.stack([value.sum() for value in values]).sum()
            return torch.autograd.grad(total, points, materialize_grads=True)[0]

    def _check_autograd(self) -> None:
        if self._derivative != "autograd":
            raise ValueError(
                f"derivative must be a function, 'autograd' or None, got {self._derivative!r}"
            )
        if not hasattr(namespace(self._template), "autograd"):
            raise TypeError(
                "derivative='autograd' is PyTorch's, and start is an array of another library: give "
                'torch.tensor(start), with PyTorch from `pip install "garrote[gpu]"`, or a function'
            )


def to_numpy(values: Any) -> Floats:
    """Return an array of any library, or a list of numbers, as a NumPy array in float64."""
    if isinstance(values, list):
        values = [float(value) for value in values]
    elif hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values, dtype=np.float64)


def _real(found: Any) -> Floats:
    """Return what f returned as numbers of NumPy; refuse what are none."""
    several = found if isinstance(found, list) else [found]
    arrays = [np.asarray(one.detach().cpu() if hasattr(one, "detach") else one) for one in several]
    values = np.array(arrays) if isinstance(found, list) else arrays[0]
    if values.dtype.kind not in "biuf":
        raise TypeError(
            f"f must return real numbers, one for each of its points, got {type(found).__name__} "
            f"{str(found)[:_WORDS]}"
        )
    return values.astype(np.float64)


def _single(points: Any) -> list[Any]:
    """Return points one by one."""
    return [points[k, ...] for k in range(points.shape[0])]


def shown(point: Any) -> str:
    """Return a point in few words."""
    numbers = to_numpy(point)
    more = f", ... ({len(numbers)} numbers)" if len(numbers) > _SHOWN else ""
    return "[" + ", ".join(f"{number:.4g}" for number in numbers[:_SHOWN]) + more + "]"
