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
from numba._dynfunc import make_function
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import intrinsic, overload

from garrote.kernel_sources import fingerprint

# Reassociation vectorises reductions (3.5x on dense columns); NaN and infinity keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz"}
# Division by zero gives infinity, as in NumPy: checks would keep loops from being vectorised. No kernel
# is called from C, and the way in for that would take a twentieth of the time to compile.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class _Part(JITCodeLibrary):
    """The code of a function that only kernels call: no machine code is made of it alone.

    numba would optimise it, make machine code of it and a way in from Python, and then do all
    that again with every kernel that calls it: a third of the time that compiling takes.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _PartCompiler(Compiler):
    """Types a function and writes its code down for the kernels that call it."""

    def _compile_bytecode(self) -> Any:
        codegen = self.state.targetctx.codegen()
        self.state.library = _Part(codegen, self.state.func_id.func_qualname)
        # The context is this function's own copy.
        self.state.targetctx.get_executable = self._no_way_in
        return super()._compile_bytecode()

    @staticmethod
    def _no_way_in(library: Any, description: Any, environment: Any) -> Any:
        """Return what numba tells functions apart by; calling it fails."""
        home, name = description.lookup_module(), description.qualname
        return make_function(home, name, "", 0, environment, (library,))


class _WholeCompiler(Compiler):
    """Compiles a kernel with all its parts."""

    def _compile_bytecode(self) -> Any:
        result = super()._compile_bytecode()
        # What a part asks the interpreter for (in an error's message, say) has an address only now.
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
        return result


_PART: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True, "pipeline_class": _PartCompiler}


def generic(function: Callable[..., Any] | None = None, *, shared: bool = False) -> Any:
    """Make a function that has one body for each class of its first argument.

    Bodies are registered with ``@name.register`` on a function whose first argument is annotated
    with a NamedTuple class. They must be written in the subset of Python that numba compiles. With
    ``shared`` the function's own body is that of every NamedTuple that has none.
    """
    if function is None:
        return functools.partial(generic, shared=shared)
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
        known = kind in dispatcher.registry or (shared and kind is not None)
        return dispatcher.dispatch(kind) if known else None

    choose.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    # A body that were called would keep the loop around it from vectorising.
    options: Any = {"fastmath": _FASTMATH, "forceinline": True, **_PART}
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
    same: dict[str, Any] = {"fastmath": _FASTMATH if fastmath else False, "forceinline": inline}
    whole = numba.njit(cache=True, pipeline_class=_WholeCompiler, **same, **_OPTIONS)(function)
    _give_parts_to_kernels(whole, numba.njit(**same, **_PART)(function))
    _forgive_foreign_types(whole)
    return whole


def _give_parts_to_kernels(whole: Any, part: Any) -> None:
    """Let Python call the compiled whole, and kernels include the part, unless the whole is there."""
    template_of_whole, overload_of_whole = whole.get_call_template, whole.get_overload

    def get_call_template(arguments: Any, named: Any) -> Any:
        types = tuple(whole.fold_argument_types(arguments, named)[1])
        known = template_of_whole if types in whole.overloads else part.get_call_template
        return known(arguments, named)

    def get_overload(types: Any) -> Any:
        known = overload_of_whole if tuple(types) in whole.overloads else part.get_overload
        return known(types)

    whole.get_call_template, whole.get_overload = get_call_template, get_overload


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
