"""The files that compiled code is made of: none is missed, and others are not among them."""

import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest
from numba.core.dispatcher import Dispatcher

import garrote
from garrote.kernel_sources import kernel_files

ROOT = Path(garrote.__file__).parent


def modules():
    """Import and return every module that has kernels or bodies."""
    for file in kernel_files():
        path = file.relative_to(ROOT.parent).with_suffix("")
        yield import_module(".".join(path.parts).removesuffix(".__init__"))


def functions_of(module):
    """Return the Python functions of kernels, and of the bodies of generic functions."""
    for value in vars(module).values():
        if isinstance(value, Dispatcher):
            yield value.py_func
        elif isinstance(value, FunctionType) and hasattr(value, "registry"):
            yield from value.registry.values()


def homes_of_what_is_used_by(function):
    """Return the files of garrote's own objects that the code of a function names."""
    for name in function.__code__.co_names:
        home = getattr(function.__globals__.get(name), "__module__", None) or ""
        if home.split(".")[0] == "garrote":
            yield Path(sys.modules[home].__file__)


def test_no_file_that_kernels_use_is_missed():
    listed, seen = set(kernel_files()), 0
    for module in modules():
        for function in functions_of(module):
            home = getattr(function, "__module__", None) or ""
            if isinstance(function, FunctionType) and home.startswith("garrote"):
                used = {Path(function.__code__.co_filename), *homes_of_what_is_used_by(function)}
                assert used <= listed, function
                seen += 1
    assert seen > 200


@pytest.mark.parametrize("room", ["cli", "report", "displays", "tables", "experiments"])
def test_rooms_without_kernels_compile_nothing_anew(room):
    assert not [file for file in kernel_files() if file.is_relative_to(ROOT / room)]
