"""Model files changed in meaning: whatever can be shorter, of another type or in another's place."""

import copy
import io
import json
import zipfile
from functools import partial
from itertools import pairwise

import numpy as np

from garrote.persistence.archive import HEADER, HEADER_DIGEST

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


def changes(header, members):
    """Return, for each small change of what a model file means, its name and a function that makes it.

    The functions return a header and members.
    """
    found = []
    for place in _places(header["objects"], ("objects",)):
        for what, other in _others(_at(header, place)):
            name = f"{_named(header, place)} {what}"
            found.append((name, partial(_with_value, header, members, place, other)))
    for k, texts in enumerate(header["texts"]):
        if texts:
            change = partial(_with_value, header, members, ("texts", k), texts[:-1])
            found.append((f"texts {k} shorter", change))
    for name, part in members.items():
        if name.endswith(".npy"):
            for what, other in _other_arrays(np.load(io.BytesIO(part))):
                found.append((f"{name} {what}", partial(_with_array, header, members, name, other)))
    return found


def _with_value(header, members, place, value):
    changed = copy.deepcopy(header)
    _at(changed, place[:-1])[place[-1]] = value
    return changed, members


def _with_array(header, members, name, array):
    stream = io.BytesIO()
    np.save(stream, array)
    return header, {**members, name: stream.getvalue()}


def _named(header, place):
    owner = header["objects"][place[1]]["class"]
    return f"{owner} {'/'.join(map(str, place[2:]))}"


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
    if isinstance(value, dict):
        if {"class"} <= value.keys():
            return
        keys = list(value)
        for first, second in pairwise(keys):
            yield (
                f"{first} and {second} exchanged",
                {**value, first: value[second], second: value[first]},
            )
        if len(keys) > 1:
            yield "without a key", {key: value[key] for key in keys[:-1]}
        if set(keys) & {"object", "array", "texts", "names", "float", "numpy", "tuple", "dict"}:
            yield "as a number", 3
            yield "as None", None
    elif isinstance(value, list):
        if value:
            yield "shorter", value[:-1]
            yield "as its first", value[0]
    else:
        for other in _OTHER_TYPES[type(value)]:
            yield f"as {other!r}", other


def _other_arrays(array):
    if array.ndim and array.shape[-1]:
        yield "shorter", array[..., :-1]
    if array.ndim > 1 and len(array):
        yield "with a row less", array[:-1]
    yield "in more dimensions", array[None]
    yield "of another type", array.astype("U8" if array.dtype.kind != "U" else "U1")
