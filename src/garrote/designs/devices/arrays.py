"""Arrays of other libraries, on other devices: where they are, what works on them, and the way back.

Nothing here imports PyTorch or CuPy: whoever hands over such an array has done so.
"""

import sys
from typing import Any

import numpy as np

from garrote.arrays import Array

_INSTALL = 'pip install "garrote[gpu]"'


def is_foreign(X: Any) -> bool:
    """Tell whether X is an array of another library than NumPy, and not a table, a list or a design."""
    if isinstance(X, np.ndarray):
        return False
    known = hasattr(X, "__array_namespace__") or type(X).__module__.partition(".")[0] == "torch"
    return known and hasattr(X, "device") and hasattr(X, "shape")


def is_on_device(X: Any) -> bool:
    """Tell whether X is an array of another library that lies on a GPU, or on another such device."""
    if not is_foreign(X):
        return False
    device = X.device
    return "cpu" not in str(getattr(device, "type", device)).lower()


def to_host(X: Any) -> Any:
    """Return an array of another library as one of NumPy, copied only from a device; else X as it is."""
    if not is_foreign(X):
        return X
    if hasattr(X, "detach"):  # PyTorch
        X = X.detach().cpu()
    elif hasattr(X, "get"):  # CuPy
        X = X.get()
    elif is_on_device(X):
        X = X.to_device(library_of(X).Device("CPU_DEVICE"))
    return np.asarray(X)


def to_device(values: Array, like: Any) -> Any:
    """Return NumPy's numbers as an array of the library of ``like``, on its device."""
    library = library_of(like)
    return library.asarray(np.ascontiguousarray(values), device=like.device)


def library_of(X: Any) -> Any:
    """Return the functions of the array API standard for an array's library."""
    try:
        from array_api_compat import array_namespace
    except ImportError:
        raise ImportError(
            f"arrays of {type(X).__module__.partition('.')[0]} need array-api-compat: {_INSTALL}"
        ) from None
    return array_namespace(X)


def tensor_on(device: Any, dtype: Any) -> Any:
    """Return a tensor of PyTorch without entries, on a device that is named, as "cuda" or "cuda:1"."""
    try:
        import torch
    except ImportError:
        raise ImportError(f"device={device!r} needs PyTorch: {_INSTALL}") from None
    kind = torch.float32 if dtype == np.float32 else torch.float64
    try:
        return torch.empty((0, 0), dtype=kind, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device={device!r} is not there for PyTorch: {reason}") from None


def free_on(X: Any) -> int | None:
    """Return the bytes that are free on the device of X; None where that is not known."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and isinstance(X, torch.Tensor) and X.device.type == "cuda":
        return int(torch.cuda.mem_get_info(X.device)[0])
    if cupy is not None and isinstance(X, cupy.ndarray):
        with X.device:
            return int(cupy.cuda.runtime.memGetInfo()[0])
    return None
