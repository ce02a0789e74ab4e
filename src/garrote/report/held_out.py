"""What the page says of rows that were held out: labels named right, and densities beside rivals'."""

from collections.abc import Mapping, Sequence
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
from garrote.report.wording import amount, brief, readable

_LABELS: Kinds = {
    "classes": list,
    "accuracy": list,
    "commonest": NUMBER,
    "auc": list,
    "confusion": list,
    "calibration": list,
}
_DENSITY: Kinds = {
    "models": list,
    "mean": list,
    "by_fold": list,
    "errors": list,
    "advantage": list,
    "advantage_error": list,
}
# Folds with a column of their own.
_MOST_FOLDS = 10


def check_held_out(validation: Mapping[str, Any]) -> None:
    """Refuse scores of labels, or densities, that are not whole; older documents have neither."""
    if (found := validation.get("labels")) is not None:
        check_kinds(found, _LABELS, "'labels' of 'validation'")
        check_entries(found["classes"], (str,), "'classes' of 'labels'")
        folds, classes = len(found["accuracy"]), len(found["classes"])
        for key in ("accuracy", "auc"):
            check_numbers(found[key], folds, f"'{key}' of 'labels'")
        for key, rows, columns in (("confusion", classes, classes), ("calibration", None, 3)):
            check_entries(found[key], (list,), f"'{key}' of 'labels'")
            for fold in found[key]:
                check_table(fold, rows, columns, f"'{key}' of 'labels'")
    if (found := validation.get("density")) is not None:
        check_kinds(found, _DENSITY, "'density' of 'validation'")
        count = len(found["models"])
        check_entries(found["models"], (str,), "'models' of 'density'")
        for key in ("mean", "errors", "advantage", "advantage_error"):
            check_numbers(found[key], count, f"'{key}' of 'density'", MAYBE)
        check_table(found["by_fold"], count, len(found["by_fold"][0]), "'by_fold' of 'density'")


def _part(document: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    return (document["validation"] or {}).get(key)


def held_out_sentences(document: Mapping[str, Any]) -> list[str]:
    """Say how many labels are named right, and how the densities of held-out rows compare."""
    said = []
    if (labels := _part(document, "labels")) is not None:
        auc = _mean(labels["auc"])
        ranks = "" if auc is None else f"; its AUC is {amount(auc, 2)}"
        said.append(
            f"It names the class of {_percent(_accuracy(labels))} of the rows it had not seen; always "
            f"naming the commonest class would be right for {_percent(labels['commonest'])}{ranks}."
        )
    if (density := _part(document, "density")) is not None:
        said.append(_density_sentence(density))
    return said


def _density_sentence(density: Mapping[str, Any]) -> str:
    """Say what the method's predictions are worth beside those of each rival."""
    compared = [
        f"{_compared(gain, error)} {readable(name, 60)}"
        for name, gain, error in list(
            zip(density["models"], density["advantage"], density["advantage_error"], strict=True)
        )[1:]
        if gain is not None
    ]
    return (
        f"The log predictive density of a row it had not seen is {amount(density['mean'][0], 3)}: "
        f"{', and '.join(compared)}."
    )


def _compared(gain: float, error: float | None) -> str:
    """Return how a log density compares; within two standard errors nothing is claimed."""
    size = f"{amount(abs(gain), 3)} ± {amount(error, 3)}"
    if error is not None and abs(gain) <= 2 * error:
        sign = "+" if gain >= 0 else "\u2212"
        return f"not clearly different ({sign}{size}) from that of the"
    return f"{size} {'more' if gain > 0 else 'less'} than that of the"


def folds_table(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return every measure with its mean and its value in each fold."""
    rows: list[tuple[str, float | None, Sequence[float | None]]] = []
    if (labels := _part(document, "labels")) is not None:
        rows.append(("accuracy", _accuracy(labels), labels["accuracy"]))
        rows.append(("AUC", _mean(labels["auc"]), labels["auc"]))
    if (density := _part(document, "density")) is not None:
        rows += [
            (f"log predictive density, {readable(name, 60)}", mean, folds)
            for name, mean, folds in zip(
                density["models"], density["mean"], density["by_fold"], strict=True
            )
        ]
    if not rows:
        return None
    count = len(rows[0][2])
    return {
        "folds": list(range(1, min(count, _MOST_FOLDS) + 1)),
        "more": max(0, count - _MOST_FOLDS),
        "rows": [
            (name, amount(mean, 3), [amount(value, 3) for value in folds[:_MOST_FOLDS]])
            for name, mean, folds in rows
        ],
    }


def density_table(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return each model with its density and error, and the method's advantage over it."""
    density = _part(document, "density")
    if density is None:
        return None
    measure = readable(document["validation"]["measure"], 60)
    rows = [
        {
            "name": readable(name, 60),
            "density": amount(density["mean"][k], 3),
            "advantage": "–"
            if not k
            else f"{amount(density['advantage'][k], 3)} ± {amount(density['advantage_error'][k], 3)}",
            "error": amount(density["errors"][k]),
        }
        for k, name in enumerate(density["models"])
    ]
    return {"rows": rows, "measure": measure}


def confusion_table(document: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return who was taken for whom, over all folds: counts, and shares of each class."""
    labels = _part(document, "labels")
    if labels is None:
        return None
    names = [brief(readable(name, 60), 24) for name in labels["classes"]]
    size = range(len(names))
    counts = [[sum(fold[i][j] for fold in labels["confusion"]) for j in size] for i in size]
    rows = [
        {
            "name": names[i],
            "cells": [
                {
                    "count": _count(counts[i][j]),
                    "share": _share(counts[i][j], sum(counts[i])),
                    "right": i == j,
                }
                for j in size
            ],
        }
        for i in size
    ]
    return {"names": names, "rows": rows}


def calibration(document: Mapping[str, Any], limits: Any) -> dict[str, Any] | None:
    """Return the curve of shares that came true by predicted probability, over all folds and in each."""
    labels = _part(document, "labels")
    if labels is None:
        return None
    folds = labels["calibration"]
    bins = range(len(folds[0]))
    whole = [[sum(fold[b][k] for fold in folds) for k in range(3)] for b in bins]
    several = len(labels["classes"]) > 2
    return {
        "whole": _curve(whole),
        "folds": [_curve(fold) for fold in folds[:_MOST_FOLDS]],
        "of": "the predicted class" if several else readable(labels["classes"][-1], 60),
        "several": several,
    }


def _curve(bins: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return mean probability, share that came true and weight of the bins that have rows."""
    return [
        [round(total / weight, 5), round(true / weight, 5), weight]
        for weight, total, true in bins
        if weight
    ]


def _accuracy(labels: Mapping[str, Any]) -> float:
    """Return the share of all held-out rows that is named right."""
    size = range(len(labels["classes"]))
    right = sum(fold[k][k] for fold in labels["confusion"] for k in size)
    return right / sum(sum(map(sum, fold)) for fold in labels["confusion"])


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _percent(share: float) -> str:
    return f"{100 * share:.{0 if share < 0.985 else 1}f}\u00a0%"


def _count(weight: float) -> str:
    return f"{weight:,.0f}" if weight == round(weight) else amount(weight, 1)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f}\u00a0%" if whole else "–"
