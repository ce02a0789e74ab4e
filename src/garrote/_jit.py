"""The bridge to numba: functions chosen by the class of their first argument, and compiled kernels.

``generic`` makes a function that Python dispatches with ``functools.singledispatch`` and that
compiled kernels resolve at compile time, by the class of the NamedTuple they are given. ``kernel``
compiles a loop. No other module imports numba.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

import numba
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic, overload

from garrote.kernel_sources import fingerprint

# Reassociation vectorises reductions (3.5x on dense columns); NaN and infinity keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz"}
# Division by zero gives infinity, as in NumPy: checks would keep loops from being vectorised. No kernel
# is called from C, and the way in for that would take a twentieth of the time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def generic(function: Callable[..., Any]) -> Any:
    """Make a function that has one body for each class of its first argument.

    Bodies are registered with ``@name.register`` on a function whose first argument is annotated
    with a NamedTuple class. They must be written in the subset of Python that numba compiles.
    """
    dispatcher = functools.singledispatch(function)
    enter = dispatcher.register

    def register(body: Callable[..., Any]) -> Any:
        # Compiled symbols are told apart by name, types and a counter that every process starts anew:
        # two bodies called "_" with equal types, one of them from the disk cache, could be confused.
        kind = next(iter(get_type_hints(body).values()))
        home = kind.__module__.replace(".", "_")
        body.__name__ = body.__qualname__ = f"{function.__name__}_{home}_{kind.__name__}"
        return enter(body)

    dispatcher.register = register  # type: ignore[assignment]

    def choose(*types: Any) -> Any:
        kind = getattr(types[0], "instance_class", None)
        return dispatcher.dispatch(kind) if kind in dispatcher.registry else None

    choose.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    # A body that were called would keep the loop around it from vectorising.
    options: Any = {"fastmath": _FASTMATH, "forceinline": True, **_OPTIONS}
    overload(dispatcher, strict=False, jit_options=options)(choose)
    return dispatcher


def kernel(
    function: Callable[..., Any] | None = None, *, fastmath: bool = True, inline: bool = False
) -> Any:
    """Compile a loop over arrays and NamedTuples: cached on disk, without the interpreter lock.

    ``inline`` makes a short function part of every loop that calls it.
    """
    if function is None:
        return functools.partial(kernel, fastmath=fastmath, inline=inline)
    # Numba's disk cache watches the file of a kernel only, not those of what it calls, and fails on
    # types that have moved. The fingerprint in a kernel's name keeps every state of the sources apart.
    function.__qualname__ = f"{function.__qualname__}_{fingerprint()}"
    options = _FASTMATH if fastmath else False
    compiled = numba.njit(cache=True, fastmath=options, forceinline=inline, **_OPTIONS)(function)
    _forgive_foreign_types(compiled)
    return compiled


def _bits_of(_: Any, number: Any) -> Any:
    """Return the bits of a floating-point number as an integer."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return numba.types.int64(numba.types.float64), generate


def _number_of(_: Any, bits: Any) -> Any:
    """Return the floating-point number of some bits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return numba.types.float64(numba.types.int64), generate


bits_of: Any = intrinsic(_bits_of)
number_of: Any = intrinsic(_number_of)


def _forgive_foreign_types(compiled: Any) -> None:
    """Take a cache index that names types which cannot be imported here for an empty one.

    A rule or design of the user's own is in the index of every kernel that ran it; without this no
    process could read that index any more but those that can import its module.
    """
    index = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    load = getattr(index, "_load_index", None)  # private to numba (0.60 to 0.68 have it)
    if index is None or load is None:
        return

    def load_or_begin_anew() -> Any:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    index._load_index = load_or_begin_anew
