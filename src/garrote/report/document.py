"""Is this the document of a selection? It may come from a file that anything has written."""

from collections.abc import Mapping
from typing import Any

from garrote.report.checks import (
    MAYBE,
    NUMBER,
    Kinds,
    check_entries,
    check_kinds,
    check_numbers,
    check_table,
)
from garrote.report.held_out import check_held_out
from garrote.report.levels import check_curves, check_levels
from garrote.results.selections.document import SCHEMA

_NAME, _VERSION = SCHEMA.rsplit("/", 1)

_DOCUMENT: Kinds = {
    "method": str,
    "response": str,
    "n_variables": int,
    "n_selected": int,
    "evidence": str,
    "rule": str,
    "variables": list,
    "unlisted": dict,
    "interval_level": NUMBER,
    "intervals": str,
    "always_in": list,
    "interchangeable": dict,
    "constant": list,
    "noise_variance": MAYBE,
    "certificate": dict,
    "converged": bool,
    "warnings": list,
    "path": (dict, type(None)),
    "validation": (dict, type(None)),
    "predictions": (dict, type(None)),
    "stand_ins": (dict, type(None)),
    "provenance": dict,
}
_VARIABLE: Kinds = {
    "name": str,
    "position": int,
    "selected": bool,
    "probability": MAYBE,
    "effect": MAYBE,
    "standard_error": MAYBE,
    "lower": MAYBE,
    "upper": MAYBE,
}
_PATH: Kinds = {
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
_VALIDATION: Kinds = {
    "measure": str,
    "folds": int,
    "rule": str,
    "mean": list,
    "standard_error": list,
    "null": MAYBE,
}
_PREDICTIONS: Kinds = {"held_out": bool, "rows": list, "observed": list, "predicted": list}
_MODELS: Kinds = {
    "probability": list,
    "size": list,
    "variables": list,
    "positions": list,
    "effect": list,
}
_CREDIBLE_SET: Kinds = {
    "variables": list,
    "positions": list,
    "probability": list,
    "coverage": NUMBER,
    "purity": NUMBER,
    "mean_correlation": NUMBER,
    "median_correlation": NUMBER,
    "log_bayes_factor": MAYBE,
}
_CONSISTENCY: Kinds = {
    "n": NUMBER,
    "null_disagreement": MAYBE,
    "largest_deviation": MAYBE,
    "out_of_line": list,
}
_OUT_OF_LINE: Kinds = {
    "name": str,
    "position": int,
    "z": MAYBE,
    "expected": MAYBE,
    "deviation": MAYBE,
    "flipped": bool,
    "instead": list,
}
_CHECK: Kinds = {"findings": list, "reading": list, "command": str}
_FINDING: Kinds = {"topic": str, "text": str, "blocks": bool}
_CONTROL: Kinds = {"promise": str, "asks": list, "threshold": MAYBE, "bound": MAYBE}
_CLASSES: Kinds = {"kind": str, "names": list, "counts": list}
_LOCUS: Kinds = {"variables": list, "positions": list, "at": list, "probability": list, "z": list}
_STAND_INS: Kinds = {
    "variables": list,
    "positions": list,
    "correlation": list,
    "threshold": NUMBER,
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
    check_kinds(document, _DOCUMENT, "the document")
    # Documents of older versions do not tell it.
    later = {"effect_scale": str, "pieces": (int, type(None))}
    check_kinds({"effect_scale": "", "pieces": None, **document}, later, "the document")
    check_kinds(document["unlisted"], {"count": int}, "'unlisted'")
    check_kinds(document["certificate"], {"value": MAYBE, "parts": dict}, "'certificate'")
    for k, variable in enumerate(document["variables"]):
        check_kinds(variable, _VARIABLE, f"entry {k} of 'variables'")
        check_levels(variable, f"entry {k} of 'variables'")
    if len({v["position"] for v in document["variables"]}) < len(document["variables"]):
        raise ValueError("two entries of 'variables' have the same 'position': each needs its own")
    for key in ("always_in", "constant", "warnings"):
        check_entries(document[key], (str,), f"'{key}'")
    for name, others in document["interchangeable"].items():
        check_entries(others, (str,), f"'interchangeable' of {name[:60]!r}")
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
    check_kinds(path, _PATH, "'path'")
    count, lines = len(path["strengths"]), len(path["variables"])
    check_numbers(path["strengths"], count, "'strengths' of 'path'", NUMBER)
    if not 0 <= path["chosen"] < count:
        raise ValueError(
            f"'chosen' of 'path' is {path['chosen']}, beyond its {count} strengths: "
            "the document is damaged"
        )
    check_entries(path["variables"], (str,), "'variables' of 'path'")
    check_numbers(path["positions"], lines, "'positions' of 'path'", (int,))
    check_numbers(path["expected_size"], count, "'expected_size' of 'path'")
    for key in ("probability", "effect"):
        check_table(path[key], count, lines, f"'{key}' of 'path'")
    for branch, energies in path["energies"].items():
        check_numbers(energies, count, f"energies of branch {branch[:60]!r}")
    if path["hysteresis"] is not None:
        check_numbers(path["hysteresis"], 2, "'hysteresis' of 'path'", NUMBER)


def _check_optional(document: Mapping[str, Any]) -> None:
    count = len(document["path"]["strengths"]) if document["path"] else None
    if (found := document["validation"]) is not None:
        check_kinds(found, _VALIDATION, "'validation'")
        for key in ("mean", "standard_error"):
            check_numbers(found[key], count, f"'{key}' of 'validation'")
        check_held_out(found)
    if (found := document["predictions"]) is not None:
        check_kinds(found, _PREDICTIONS, "'predictions'")
        rows = len(found["observed"])
        check_numbers(found["observed"], rows, "'observed' of 'predictions'")
        check_numbers(found["rows"], rows, "'rows' of 'predictions'", (int,))
        check_table(found["predicted"], count, rows, "'predicted' of 'predictions'")
    if (found := document["stand_ins"]) is not None:
        check_kinds(found, _STAND_INS, "'stand_ins'")
        size = len(found["variables"])
        check_entries(found["variables"], (str,), "'variables' of 'stand_ins'")
        check_numbers(found["positions"], size, "'positions' of 'stand_ins'", (int,))
        check_table(found["correlation"], size, size, "'correlation' of 'stand_ins'")
        for near in found["near"]:
            check_kinds(near, {"variable": str, "others": list}, "'near' of 'stand_ins'")
            for other in near["others"]:
                check_kinds(other, {"name": str, "correlation": MAYBE}, "'near' of 'stand_ins'")
    # Documents from before there were models, z-scores, or a check of the table, have no such key.
    if (found := document.get("models")) is not None:
        _check_models(found)
    if (found := document.get("credible_sets")) is not None:
        _check_credible_sets(found)
    if (found := document.get("check")) is not None:
        check_kinds(found, _CHECK, "'check'")
        check_entries(found["reading"], (str,), "'reading' of 'check'")
        for entry in found["findings"]:
            check_kinds(entry, _FINDING, "'findings' of 'check'")
    if (found := document.get("classes")) is not None:
        check_kinds(found, _CLASSES, "'classes'")
        check_entries(found["names"], (str,), "'names' of 'classes'")
        check_numbers(found["counts"], len(found["names"]), "'counts' of 'classes'", (int,))
    if (found := document.get("curves")) is not None:
        check_curves(found)
    if (found := document.get("control")) is not None:
        check_kinds(found, _CONTROL, "'control'")
        check_entries(found["asks"], (str,), "'asks' of 'control'")
    if (found := document.get("locus")) is not None:
        _check_locus(found)
    if (found := document.get("consistency")) is not None:
        check_kinds(found, _CONSISTENCY, "'consistency'")
        for entry in found["out_of_line"]:
            check_kinds(entry, _OUT_OF_LINE, "'out_of_line' of 'consistency'")


def _check_models(found: Any) -> None:
    check_kinds(found, _MODELS, "'models'")
    models, columns = len(found["probability"]), len(found["variables"])
    check_numbers(found["probability"], models, "'probability' of 'models'", NUMBER)
    check_numbers(found["size"], models, "'size' of 'models'", (int,))
    check_entries(found["variables"], (str,), "'variables' of 'models'")
    check_numbers(found["positions"], columns, "'positions' of 'models'", (int,))
    check_table(found["effect"], models, columns, "'effect' of 'models'")


def _check_locus(found: Any) -> None:
    check_kinds(found, _LOCUS, "'locus'")
    count = len(found["variables"])
    check_entries(found["variables"], (str,), "'variables' of 'locus'")
    check_numbers(found["positions"], count, "'positions' of 'locus'", (int,))
    for key in ("at", "probability", "z"):
        check_numbers(found[key], count, f"'{key}' of 'locus'")


def _check_credible_sets(found: Any) -> None:
    check_entries(found, (dict,), "'credible_sets'")
    for k, one in enumerate(found):
        where = f"entry {k} of 'credible_sets'"
        check_kinds(one, _CREDIBLE_SET, where)
        size = len(one["variables"])
        check_entries(one["variables"], (str,), f"'variables' of {where}")
        check_numbers(one["positions"], size, f"'positions' of {where}", (int,))
        check_numbers(one["probability"], size, f"'probability' of {where}", NUMBER)
