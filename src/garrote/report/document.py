"""Is this the document of a selection? It may come from a file that anything has written."""

from collections.abc import Mapping, Sequence
from typing import Any

from garrote.results.selection import SCHEMA

_NAME, _VERSION = SCHEMA.rsplit("/", 1)

# A type, a tuple of types, or (for an entry that may be null) a tuple with NoneType.
_NUMBER = (int, float)
_MAYBE = (int, float, type(None))
_Kinds = dict[str, Any]
_LARGEST = 1e300

_DOCUMENT: _Kinds = {
    "method": str,
    "response": str,
    "n_variables": int,
    "n_selected": int,
    "evidence": str,
    "rule": str,
    "variables": list,
    "unlisted": dict,
    "interval_level": _NUMBER,
    "intervals": str,
    "always_in": list,
    "interchangeable": dict,
    "constant": list,
    "noise_variance": _MAYBE,
    "certificate": dict,
    "converged": bool,
    "warnings": list,
    "path": (dict, type(None)),
    "validation": (dict, type(None)),
    "predictions": (dict, type(None)),
    "stand_ins": (dict, type(None)),
    "provenance": dict,
}
_VARIABLE: _Kinds = {
    "name": str,
    "position": int,
    "selected": bool,
    "probability": _MAYBE,
    "effect": _MAYBE,
    "standard_error": _MAYBE,
    "lower": _MAYBE,
    "upper": _MAYBE,
}
_PATH: _Kinds = {
    "strength": str,
    "strengths": list,
    "chosen": int,
    "variables": list,
    "positions": list,
    "probability": list,
    "effect": list,
    "expected_size": list,
    "energies": dict,
    "hysteresis": (list, type(None)),
    "cut": (str, type(None)),
}
_VALIDATION: _Kinds = {
    "measure": str,
    "folds": int,
    "rule": str,
    "mean": list,
    "standard_error": list,
    "null": _MAYBE,
}
_PREDICTIONS: _Kinds = {"held_out": bool, "rows": list, "observed": list, "predicted": list}
_MODELS: _Kinds = {
    "probability": list,
    "size": list,
    "variables": list,
    "positions": list,
    "effect": list,
}
_CREDIBLE_SET: _Kinds = {
    "variables": list,
    "positions": list,
    "probability": list,
    "coverage": _NUMBER,
    "purity": _NUMBER,
    "mean_correlation": _NUMBER,
    "median_correlation": _NUMBER,
    "log_bayes_factor": _MAYBE,
}
_CONSISTENCY: _Kinds = {
    "n": _NUMBER,
    "null_disagreement": _MAYBE,
    "largest_deviation": _MAYBE,
    "out_of_line": list,
}
_OUT_OF_LINE: _Kinds = {
    "name": str,
    "position": int,
    "z": _MAYBE,
    "expected": _MAYBE,
    "deviation": _MAYBE,
    "flipped": bool,
    "instead": list,
}
_CHECK: _Kinds = {"findings": list, "reading": list, "command": str}
_FINDING: _Kinds = {"topic": str, "text": str, "blocks": bool}
_STAND_INS: _Kinds = {
    "variables": list,
    "positions": list,
    "correlation": list,
    "threshold": _NUMBER,
    "near": list,
}


def check_document(document: Any) -> None:
    """Raise a ValueError that says what is wrong, unless this is a selection's JSON document."""
    if not isinstance(document, Mapping) or "schema" not in document:
        raise ValueError(
            "this is not the JSON document of a selection (it has no 'schema'): give what "
            "Selection.to_dict() returns or `garrote select --json` writes"
        )
    _check_schema(document["schema"])
    _check_kinds(document, _DOCUMENT, "the document")
    # Documents of older versions do not tell it.
    later = {"effect_scale": str, "pieces": (int, type(None))}
    _check_kinds({"effect_scale": "", "pieces": None, **document}, later, "the document")
    _check_kinds(document["unlisted"], {"count": int}, "'unlisted'")
    _check_kinds(document["certificate"], {"value": _MAYBE, "parts": dict}, "'certificate'")
    for k, variable in enumerate(document["variables"]):
        _check_kinds(variable, _VARIABLE, f"entry {k} of 'variables'")
    if len({v["position"] for v in document["variables"]}) < len(document["variables"]):
        raise ValueError("two entries of 'variables' have the same 'position': each needs its own")
    for key in ("always_in", "constant", "warnings"):
        _check_entries(document[key], (str,), f"'{key}'")
    for name, others in document["interchangeable"].items():
        _check_entries(others, (str,), f"'interchangeable' of {name[:60]!r}")
    if document["path"] is not None:
        _check_path(document["path"])
    _check_optional(document)


def _check_schema(schema: Any) -> None:
    name, _, version = str(schema).rpartition("/")
    if name != _NAME or not version.isdecimal():
        raise ValueError(f"the document's schema is {str(schema)[:60]!r}; expected {SCHEMA!r}")
    if int(version) > int(_VERSION):
        raise ValueError(
            f"the document has schema version {version} and this garrote reads up to {_VERSION}: "
            "update garrote"
        )


def _check_path(path: Mapping[str, Any]) -> None:
    _check_kinds(path, _PATH, "'path'")
    count, lines = len(path["strengths"]), len(path["variables"])
    _check_numbers(path["strengths"], count, "'strengths' of 'path'", _NUMBER)
    if not 0 <= path["chosen"] < count:
        raise ValueError(
            f"'chosen' of 'path' is {path['chosen']}, beyond its {count} strengths: "
            "the document is damaged"
        )
    _check_entries(path["variables"], (str,), "'variables' of 'path'")
    _check_numbers(path["positions"], lines, "'positions' of 'path'", (int,))
    _check_numbers(path["expected_size"], count, "'expected_size' of 'path'")
    for key in ("probability", "effect"):
        _check_table(path[key], count, lines, f"'{key}' of 'path'")
    for branch, energies in path["energies"].items():
        _check_numbers(energies, count, f"energies of branch {branch[:60]!r}")
    if path["hysteresis"] is not None:
        _check_numbers(path["hysteresis"], 2, "'hysteresis' of 'path'", _NUMBER)


def _check_optional(document: Mapping[str, Any]) -> None:
    count = len(document["path"]["strengths"]) if document["path"] else None
    if (found := document["validation"]) is not None:
        _check_kinds(found, _VALIDATION, "'validation'")
        for key in ("mean", "standard_error"):
            _check_numbers(found[key], count, f"'{key}' of 'validation'")
    if (found := document["predictions"]) is not None:
        _check_kinds(found, _PREDICTIONS, "'predictions'")
        rows = len(found["observed"])
        _check_numbers(found["observed"], rows, "'observed' of 'predictions'")
        _check_numbers(found["rows"], rows, "'rows' of 'predictions'", (int,))
        _check_table(found["predicted"], count, rows, "'predicted' of 'predictions'")
    if (found := document["stand_ins"]) is not None:
        _check_kinds(found, _STAND_INS, "'stand_ins'")
        size = len(found["variables"])
        _check_entries(found["variables"], (str,), "'variables' of 'stand_ins'")
        _check_numbers(found["positions"], size, "'positions' of 'stand_ins'", (int,))
        _check_table(found["correlation"], size, size, "'correlation' of 'stand_ins'")
        for near in found["near"]:
            _check_kinds(near, {"variable": str, "others": list}, "'near' of 'stand_ins'")
            for other in near["others"]:
                _check_kinds(other, {"name": str, "correlation": _MAYBE}, "'near' of 'stand_ins'")
    # Documents from before there were models, z-scores, or a check of the table, have no such key.
    if (found := document.get("models")) is not None:
        _check_models(found)
    if (found := document.get("credible_sets")) is not None:
        _check_credible_sets(found)
    if (found := document.get("check")) is not None:
        _check_kinds(found, _CHECK, "'check'")
        _check_entries(found["reading"], (str,), "'reading' of 'check'")
        for entry in found["findings"]:
            _check_kinds(entry, _FINDING, "'findings' of 'check'")
    if (found := document.get("consistency")) is not None:
        _check_kinds(found, _CONSISTENCY, "'consistency'")
        for entry in found["out_of_line"]:
            _check_kinds(entry, _OUT_OF_LINE, "'out_of_line' of 'consistency'")


def _check_models(found: Any) -> None:
    _check_kinds(found, _MODELS, "'models'")
    models, columns = len(found["probability"]), len(found["variables"])
    _check_numbers(found["probability"], models, "'probability' of 'models'", _NUMBER)
    _check_numbers(found["size"], models, "'size' of 'models'", (int,))
    _check_entries(found["variables"], (str,), "'variables' of 'models'")
    _check_numbers(found["positions"], columns, "'positions' of 'models'", (int,))
    _check_table(found["effect"], models, columns, "'effect' of 'models'")


def _check_credible_sets(found: Any) -> None:
    _check_entries(found, (dict,), "'credible_sets'")
    for k, one in enumerate(found):
        where = f"entry {k} of 'credible_sets'"
        _check_kinds(one, _CREDIBLE_SET, where)
        size = len(one["variables"])
        _check_entries(one["variables"], (str,), f"'variables' of {where}")
        _check_numbers(one["positions"], size, f"'positions' of {where}", (int,))
        _check_numbers(one["probability"], size, f"'probability' of {where}", _NUMBER)


def _check_kinds(found: Any, kinds: _Kinds, where: str) -> None:
    if not isinstance(found, Mapping):
        raise ValueError(f"{where} must be an object with keys, got {_said(found)}")
    for key, kind in kinds.items():
        if key not in found:
            raise ValueError(f"{where} has no {key!r}: it is not complete, or not of {SCHEMA!r}")
        if not _is(found[key], kind):
            raise ValueError(f"{key!r} of {where} must be {_named(kind)}, got {_said(found[key])}")


def _check_entries(found: Any, kind: tuple[type, ...], where: str) -> None:
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise ValueError(f"{where} must be a list, got {_said(found)}")
    for entry in found:
        if not _is(entry, kind):
            raise ValueError(f"{where} must hold {_named(kind)}, got {_said(entry)}")


def _check_numbers(
    found: Any, count: int | None, where: str, kind: tuple[type, ...] = _MAYBE
) -> None:
    _check_entries(found, kind, where)
    if count is not None and len(found) != count:
        raise ValueError(f"{where} has {len(found)} entries where {count} belong")


def _check_table(found: Any, rows: int | None, columns: int, where: str) -> None:
    _check_entries(found, (list, tuple), where)
    if rows is not None and len(found) != rows:
        raise ValueError(f"{where} has {len(found)} rows where {rows} belong")
    for row in found:
        _check_numbers(row, columns, where)


def _is(value: Any, kind: Any) -> bool:
    """Tell whether a value is of a kind; true and false, NaN and infinity are no numbers."""
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if isinstance(value, bool):
        return bool in kinds
    if isinstance(value, int | float) and not -_LARGEST < value < _LARGEST:
        return False
    return isinstance(value, kinds)


_KIND_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    tuple: "a list",
    dict: "an object",
    type(None): "null",
}


def _named(kind: Any) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if float in kinds:
        kinds = tuple(k for k in kinds if k is not int)
    return " or ".join(dict.fromkeys(_KIND_NAMES[k] for k in kinds))


def _said(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
