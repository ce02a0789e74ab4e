"""Values as a tree of JSON, with arrays and shared objects beside it; and back.

JSON's own values stand for themselves. Everything else is an object with one key, its kind::

    {"float": "nan"}                    a number that JSON lacks
    {"numpy": ["float64", 0.5]}         a NumPy scalar
    {"tuple": [...]}, {"dict": [[key, value], ...]}
    {"texts": 0}, {"names": [0, [3]]}   texts[0] as a tuple; as an array of objects of this shape
    {"array": 7}                        arrays/7.npy
    {"object": 4}                       objects[4]

``objects`` lists short arrays, sparse matrices and instances of known classes, each once however
often it is referred to, and each after all that it refers to, so that one pass makes them and no
cycle can be written.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from garrote.arrays import Array
from garrote.persistence.archive import KINDS, ModelFileError
from garrote.settings import Settings

_SCALARS: dict[str, type[np.generic]] = {
    "bool": np.bool_, "str": np.str_,
    "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "float16": np.float16, "float32": np.float32, "float64": np.float64,
}  # fmt: skip
_SPARSE = {
    f"{layout}_{kind}": getattr(scipy.sparse, f"{layout}_{kind}")
    for layout in ("csr", "csc", "coo")
    for kind in ("array", "matrix")
}
# What stands for the values of short arrays.
_OF_SHORT: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float}}
# A member of a zip costs some 200 bytes beside its content: shorter arrays are cheaper in the header.
_SHORT = 16
# Parameters without any bearing on what a model is.
_NOT_MISSED = {"callback"}
# What scikit-learn's metadata routing keeps on an estimator: an object of its own.
_NOT_KEPT = {"_metadata_request"}


class Unstorable(TypeError):
    """A value for which files have no place."""


class Unknown(ModelFileError):
    """Something in a file that a later garrote may know."""


class Encoder:
    """Turns values into nodes and collects the arrays, texts and objects that they refer to."""

    def __init__(self, known: Mapping[str, type]):
        self.arrays: list[Array] = []
        self.texts: list[list[str]] = []
        self.objects: list[dict[str, Any]] = []
        self._known = known
        self._nodes: dict[int, Any] = {}
        self._numbers: dict[tuple[str, ...], int] = {}
        # An id is unique only as long as its value lives.
        self._alive: list[Any] = []

    def encode(self, value: Any, place: str = "value") -> Any:
        """Return the node of a value; ``place`` names it in the error if there is none."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return self._scalar(value, place)
        if kind is list:
            return [self.encode(v, f"{place}[{k}]") for k, v in enumerate(value)]
        if kind is tuple:
            return self._tuple(value, place)
        if kind is dict:
            return {"dict": [self._pair(k, v, place) for k, v in value.items()]}
        if kind is np.ndarray:
            return self._once(value, place, self._array)
        if kind in (self._known.get(kind.__name__), _SPARSE.get(kind.__name__)):
            return self._once(value, place, self._object)
        raise Unstorable(f"{place} is a {kind.__module__}.{kind.__qualname__}")

    def _once(self, value: Any, place: str, encode: Callable[[Any, str], Any]) -> Any:
        if id(value) not in self._nodes:
            self._nodes[id(value)] = encode(value, place)
            self._alive.append(value)
        return self._nodes[id(value)]

    def _pair(self, key: Any, value: Any, place: str) -> list[Any]:
        return [self.encode(key, place), self.encode(value, f"{place}[{key!r}]")]

    def _scalar(self, value: np.generic, place: str) -> Any:
        name = "str" if value.dtype.kind == "U" else value.dtype.name
        if name not in _SCALARS:
            raise Unstorable(f"{place} is a NumPy {name}")
        return {"numpy": [name, self.encode(value.item())]}

    def _tuple(self, value: tuple[Any, ...], place: str) -> Any:
        if value and all(type(v) is str for v in value):
            return {"texts": self._text_number(value)}
        return {"tuple": [self.encode(v, f"{place}[{k}]") for k, v in enumerate(value)]}

    def _text_number(self, texts: tuple[str, ...]) -> int:
        if texts not in self._numbers:
            self._numbers[texts] = len(self.texts)
            self.texts.append(list(texts))
        return self._numbers[texts]

    def _array(self, value: Array, place: str) -> Any:
        if value.dtype.kind == "O":
            texts = tuple(value.ravel().tolist())
            if not all(type(v) is str for v in texts):
                raise Unstorable(f"{place} is an array of objects that are not all str")
            return {"names": [self._text_number(texts), list(value.shape)]}
        if value.dtype.kind not in KINDS or not value.dtype.itemsize:
            raise Unstorable(f"{place} is an array of {value.dtype}")
        if _is_short(value):
            return self._add("array", dtype=value.dtype.name, shape=list(value.shape),
                             values=value.ravel().tolist())  # fmt: skip
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _object(self, value: Any, place: str) -> Any:
        if is_dataclass(value):
            inside = {f.name: getattr(value, f.name) for f in fields(value)}
            written: dict[str, Any] = {"fields": self._named(inside, type(value).__name__)}
        elif isinstance(value, tuple):  # a named one, as likelihoods are that kernels read
            written = {"fields": self._named(value._asdict(), type(value).__name__)}  # type: ignore[attr-defined]
        elif scipy.sparse.issparse(value):
            parts = value.coords if value.format == "coo" else (value.indices, value.indptr)
            arrays = [self._array(part, place) for part in (value.data, *parts)]
            written = {"shape": list(value.shape), "arrays": arrays}
        else:
            written = self._estimator(value)
        return self._add(type(value).__name__, **written)

    def _add(self, name: str, **written: Any) -> dict[str, int]:
        self.objects.append({"class": name, **written})
        return {"object": len(self.objects) - 1}

    def _named(self, values: Mapping[str, Any], owner: str) -> dict[str, Any]:
        return {name: self.encode(value, f"{owner}.{name}") for name, value in values.items()}

    def _estimator(self, model: Any) -> dict[str, Any]:
        """Return the node of an estimator; a splitter, a callback and the like are left out, by name.

        Answers never are, nor are objects of settings and other estimators: with the default in place of
        a penalty, a prior or a base it would be another model.
        """
        given, owner = model.get_params(deep=False), type(model).__name__
        state = {name: value for name, value in vars(model).items() if name not in given}
        left_out = {
            name: _text(value) for name, value in given.items() if not self._storable(value)
        }
        for name in left_out:
            if isinstance(given[name], Settings | BaseEstimator):
                self.encode(given[name], f"{owner}.{name}")  # says what of it has no place
        left_out |= {name: _text(state.pop(name)) for name in _NOT_KEPT & state.keys()}
        for name in state:
            check_attribute(type(model), name)
        kept = {name: value for name, value in given.items() if name not in left_out}
        return {
            "parameters": self._named(kept, owner),
            "left_out": left_out,
            "state": self._named(state, owner),
        }

    def _storable(self, value: Any) -> bool:
        """Try with another encoder, so that nothing of a failure stays in this one."""
        try:
            Encoder(self._known).encode(value)
        except (Unstorable, RecursionError):
            return False
        return True


def _is_short(array: Array) -> bool:
    """Whether an array is cheaper as JSON, and comes back from it bit for bit."""
    native = array.dtype.isnative and array.dtype.kind in "biuf" and array.dtype.name in _SCALARS
    # Every NaN is the same to JSON, and arrays are to come back in the order they had.
    return bool(
        native and array.size <= _SHORT and array.flags.c_contiguous and np.isfinite(array).all()
    )


def _text(value: Any) -> str:
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))[:200]


def check_attribute(cls: type, name: str) -> None:
    """Refuse a fitted attribute that would hide something of its class."""
    if not name.isidentifier() or name.startswith("__") or hasattr(cls, name):
        raise ModelFileError(f"{cls.__name__} cannot have a fitted attribute {name[:60]!r}")


class Decoder:
    """Turns nodes into values; makes nothing but plain values, arrays and known classes.

    ``left_out`` collects, by class, the settings that the loaded estimators do not have.
    """

    def __init__(
        self,
        known: Mapping[str, type],
        read_array: Callable[[int], Array],
        texts: Sequence[Sequence[str]],
    ):
        self.objects: list[Any] = []
        self.left_out: dict[str, dict[str, str]] = {}
        self._known = known
        self._read_array = read_array
        self._arrays: dict[int, Array] = {}
        self._named_arrays: dict[int, Array] = {}
        self._texts = [tuple(part) for part in texts]
        if not all(type(text) is str for part in self._texts for text in part):
            raise ModelFileError("its texts are not all text")

    def decode(self, node: Any) -> Any:
        """Return the value of a node."""
        if isinstance(node, list):
            return [self.decode(part) for part in node]
        if not isinstance(node, dict):
            return node
        ((kind, content),) = node.items()
        if kind not in _DECODE:
            raise Unknown(f"values of kind {str(kind)[:60]!r}")
        return _DECODE[kind](self, content)

    def add(self, written: Mapping[str, Any]) -> None:
        """Make the next object."""
        name = written["class"]
        if name == "array":
            made = self._short_array(written)
        elif name in _SPARSE:
            made = self._sparse(_SPARSE[name], written)
        elif name in self._known:
            cls = self._known[name]
            of_values = is_dataclass(cls) or issubclass(cls, tuple)
            made = (self._of_values if of_values else self._estimator)(cls, written)
        else:
            raise Unknown(f"a {str(name)[:60]!r}")
        self.objects.append(made)

    def _of_values(self, cls: Any, written: Mapping[str, Any]) -> Any:
        found = {name: self.decode(node) for name, node in written["fields"].items()}
        if is_dataclass(cls):
            known = fields(cls)
            names = {f.name for f in known}
            needed = {
                f.name for f in known if f.default is MISSING and f.default_factory is MISSING
            }
        else:
            names, needed = set(cls._fields), set(cls._fields) - set(cls._field_defaults)
        _check_names(cls, "field", found.keys() - names, needed - found.keys())
        return cls(**found)

    def _estimator(self, cls: Any, written: Mapping[str, Any]) -> Any:
        given = {name: self.decode(node) for name, node in written["parameters"].items()}
        _check_names(cls, "parameter", given.keys() - cls().get_params(deep=False).keys(), set())
        state = {name: self.decode(node) for name, node in written["state"].items()}
        for name in state:
            check_attribute(cls, name)
        model = cls(**given)
        vars(model).update(state)
        missed = {k: v for k, v in dict(written["left_out"]).items() if k not in _NOT_MISSED}
        if missed:
            self.left_out.setdefault(cls.__name__, {}).update(missed)
        return model

    def _short_array(self, written: Mapping[str, Any]) -> Array:
        values, kind = written["values"], np.dtype(_SCALARS[written["dtype"]])
        if not {type(value) for value in values} <= _OF_SHORT.get(kind.kind, set()):
            raise ModelFileError(f"an array of {kind} has values of another type")
        if not isinstance(written["shape"], list):
            raise ModelFileError("the shape of an array is no list")
        return np.array(values, dtype=kind).reshape(written["shape"])

    def _sparse(self, cls: Any, written: Mapping[str, Any]) -> Any:
        data, *parts = [self.decode(node) for node in written["arrays"]]
        if written["class"].startswith("coo"):
            return cls((data, tuple(parts)), shape=tuple(written["shape"]))  # which checks them
        matrix = cls((data, *parts), shape=tuple(written["shape"]))
        matrix.check_format(full_check=True)
        return matrix

    def _float(self, content: str) -> float:
        if content not in ("nan", "inf", "-inf"):
            raise ModelFileError(f"{content!r} is no number")
        return float(content)

    def _scalar(self, content: Sequence[Any]) -> Any:
        name, node = content
        value = self.decode(node)
        if type(value) not in (bool, int, float, str):
            raise ModelFileError(f"a {type(value).__name__} is no NumPy scalar")
        return _SCALARS[name](value)

    def _dict(self, content: Sequence[Any]) -> dict[Any, Any]:
        return {self.decode(key): self.decode(value) for key, value in content}

    def _named_array(self, content: Sequence[Any]) -> Array:
        number, shape = content
        if number not in self._named_arrays:
            texts = self._texts[_position(number)]
            self._named_arrays[number] = np.array([*texts, None], dtype=object)[:-1]
        return self._named_arrays[number].reshape(shape)

    def _array(self, content: int) -> Array:
        if content not in self._arrays:
            self._arrays[content] = self._read_array(_position(content))
        return self._arrays[content]


_DECODE: dict[str, Callable[[Decoder, Any], Any]] = {
    "float": Decoder._float,
    "numpy": Decoder._scalar,
    "tuple": lambda decoder, content: tuple(decoder.decode(part) for part in content),
    "dict": Decoder._dict,
    "texts": lambda decoder, content: decoder._texts[_position(content)],
    "names": Decoder._named_array,
    "array": Decoder._array,
    "object": lambda decoder, content: decoder.objects[_position(content)],
}


def _position(content: Any) -> int:
    if type(content) is not int or content < 0:
        raise ModelFileError(f"{content!r} is no position")
    return content


def _check_names(cls: type, what: str, unknown: set[str], missing: set[str]) -> None:
    if unknown:
        raise Unknown(f"a {cls.__name__} with the {what} {min(unknown)[:60]!r}")
    if missing:
        raise ModelFileError(f"{cls.__name__} lacks its {what} {min(missing)!r}")
