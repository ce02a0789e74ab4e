"""Model files changed in meaning: whatever can be shorter, of another type or in another's place."""

import copy
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from itertools import pairwise
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from garrote.persistence.archive import HEADER, HEADER_DIGEST
from garrote.settings import Settings

_OTHER_TYPES = {bool: ["x", 7.5], int: ["x", None, [1]], float: ["x", None, [0.5]], str: [3, None],
                type(None): [1, "x"]}  # fmt: skip


def members_of(content):
    """Return the header and the members of a model file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop(HEADER)), members


def without_digests(header, members):
    """Return a file as one that was written before files had digests."""
    header = {key: value for key, value in header.items() if key != "digests"}
    members = {name: part for name, part in members.items() if name != HEADER_DIGEST}
    return file_of(header, members)


def file_of(header, members):
    """Return a model file with some header and members."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(HEADER, json.dumps(header))
        for name, part in members.items():
            archive.writestr(name, part)
    return content.getvalue()


class Change(NamedTuple):
    """A small change of what a model file means; ``make`` returns a header and members.

    ``owner`` is the class of the object that is changed ("texts" and "arrays" have none), ``place``
    leads to what is changed in it, ``kind`` says what becomes of that.
    """

    owner: str
    place: str
    kind: str
    make: Callable

    @property
    def name(self):
        return f"{self.owner} {self.place} {self.kind}"


def changes(header, members):
    """Return every small change of what a model file means, whatever the order of its fields."""
    found = []
    for place in _places(header["objects"], ("objects",)):
        owner, inside = header["objects"][place[1]]["class"], "/".join(map(str, place[2:]))
        for kind, more, other in _others(_at(header, place)):
            make = partial(_with_value, header, members, place, other)
            found.append(Change(owner, f"{inside}{more}", kind, make))
    for k, texts in enumerate(header["texts"]):
        if texts:
            make = partial(_with_value, header, members, ("texts", k), texts[:-1])
            found.append(Change("texts", str(k), "shorter", make))
    for name, part in members.items():
        if name.endswith(".npy"):
            for kind, other in _other_arrays(np.load(io.BytesIO(part))):
                make = partial(_with_array, header, members, name, other)
                found.append(Change("arrays", name, kind, make))
    return found


def one_of_each(found):
    """Return a change of every kind in every part of every class: the first by its name.

    Values of any other type are one kind.
    """
    first = {}
    for change in sorted(found, key=lambda change: change.name):
        section, kind = change.place.split("/")[0], change.kind.split()[0]
        first.setdefault((change.owner, section, kind), change)
    return list(first.values())


def is_admitted(change, classes):
    """Tell whether a file may still be a model after a change, by what its field is declared to be.

    A field of a result has a value of its declared type. Nothing is asked of an estimator's settings
    (priors and methods among them) and attributes, nor of what is inside of a field (its length, what a
    dictionary holds): there the model must do with what it finds, and answer as before.
    """
    section, *inside = change.place.split("/")
    kind = classes.get(change.owner)
    if section != "fields" or len(inside) > 1:
        return True
    if not is_dataclass(kind) or issubclass(kind, Settings):
        return True
    declared = {field.name: _types_of(hint) for field, hint in _hints(kind)}
    if change.kind == "exchanged":
        one, other = (declared[name] for name in inside[0].split("&"))
        return bool(one & other) or Any in one | other
    if change.kind == "left out":
        return has_default(kind, inside[0])
    return bool({Any, type(None)} & declared[inside[0]])


def _hints(kind):
    hints = get_type_hints(kind)
    return [(field, hints[field.name]) for field in fields(kind)]


def _types_of(hint):
    """Return the types that a field may have; a whole number may stand for any."""
    parts = set(get_args(hint)) if get_origin(hint) in (Union, UnionType) else {hint}
    return {float if part is int else part for part in parts}


def has_default(kind, name):
    """Tell whether a field of a dataclass may be left out."""
    (field,) = (field for field in fields(kind) if field.name == name)
    return field.default is not MISSING or field.default_factory is not MISSING


def _with_value(header, members, place, value):
    changed = copy.deepcopy(header)
    _at(changed, place[:-1])[place[-1]] = value
    return changed, members


def _with_array(header, members, name, array):
    stream = io.BytesIO()
    np.save(stream, array)
    return header, {**members, name: stream.getvalue()}


def _places(node, place):
    """Yield the keys that lead to every value but classes, which no change may touch."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if key in ("class", "left_out"):
            continue
        yield (*place, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*place, key))


def _at(node, place):
    for key in place:
        node = node[key]
    return node


def _others(value):
    """Yield other values: the kind of change, where it is inside of the value, and what comes out."""
    if isinstance(value, dict):
        if {"class"} <= value.keys():
            return
        keys = sorted(value)
        for first, second in pairwise(keys):
            if value[first] == value[second]:
                continue
            swapped = {**value, first: value[second], second: value[first]}
            yield "exchanged", f"/{first}&{second}", swapped
        if len(keys) > 1:
            for left_out in (keys[0], keys[-1]):
                yield "left out", f"/{left_out}", {k: value[k] for k in value if k != left_out}
        if set(keys) & {"object", "array", "texts", "names", "float", "numpy", "tuple", "dict"}:
            yield "as a number", "", 3
            yield "as None", "", None
    elif isinstance(value, list):
        if value:
            yield "shorter", "", value[:-1]
            yield "as its first", "", value[0]
    else:
        for other in _OTHER_TYPES[type(value)]:
            yield f"as {other!r}", "", other


def _other_arrays(array):
    if array.ndim and array.shape[-1]:
        yield "shorter", array[..., :-1]
    if array.ndim > 1 and len(array):
        yield "with a row less", array[:-1]
    yield "in more dimensions", array[None]
    yield "of another type", array.astype("U8" if array.dtype.kind != "U" else "U1")
