"""The parts of a selection that pictures show, each with its plain values for the JSON document."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.files.json_values import number, numbers
from garrote.results.selections.held_out import LabelScores, PredictiveDensity
from garrote.summaries import Shown


@dataclass(frozen=True, repr=False)
class PathView(Shown):
    """How the answer changes with the strength, for the variables worth a line.

    Attributes
    ----------
    strength : str
        What the strength is called: "gamma".
    strengths : array of shape (K,)
    chosen : int
        Position of the strength in use.
    columns : array of int of shape (k,)
        The variables shown.
    probability, effect : array of shape (K, k)
    expected_size : array of shape (K,)
    energies : dict
        Branch ("forward", "backward") -> free energy at each strength; empty without branches.
    hysteresis : (float, float) or None
        Range of strengths where the branches differ.
    cut : str or None
        Why the path ends before its last strength, if it does.
    """

    strength: str
    strengths: Floats
    chosen: int
    columns: Array
    probability: Floats
    effect: Floats
    expected_size: Floats
    energies: dict[str, Floats]
    hysteresis: tuple[float, float] | None
    cut: str | None

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return it as plain values, with names of the variables."""
        return {
            "strength": self.strength,
            "strengths": numbers(self.strengths, 12),
            "chosen": int(self.chosen),
            "variables": [names[j] for j in self.columns],
            "positions": [int(j) for j in self.columns],
            "probability": numbers(self.probability),
            "effect": numbers(self.effect),
            "expected_size": numbers(self.expected_size),
            "energies": {branch: numbers(e, 12) for branch, e in self.energies.items()},
            "hysteresis": list(self.hysteresis) if self.hysteresis else None,
            "cut": self.cut,
        }


@dataclass(frozen=True, repr=False)
class Validation(Shown):
    """Held-out error over the strengths of the path; NaN where no fold reached one.

    ``labels`` tells how well labels are predicted at the strength in use; ``density``, of methods that
    state one, how dense held-out rows are, beside other models. Without a path there is one error.
    """

    measure: str
    folds: int
    rule: str
    mean: Floats
    standard_error: Floats
    null: float
    labels: LabelScores | None = None
    density: PredictiveDensity | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "measure": self.measure,
            "folds": self.folds,
            "rule": self.rule,
            "mean": numbers(self.mean),
            "standard_error": numbers(self.standard_error),
            "null": number(self.null),
            "labels": None if self.labels is None else self.labels.to_dict(),
            "density": None if self.density is None else self.density.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class Predictions(Shown):
    """Observed and predicted responses of some rows: ``predicted`` has a row for each strength."""

    held_out: bool
    rows: Array
    observed: Floats
    predicted: Floats

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "held_out": self.held_out,
            "rows": [int(i) for i in self.rows],
            "observed": numbers(self.observed),
            "predicted": numbers(self.predicted),
        }


@dataclass(frozen=True, repr=False)
class StandIns(Shown):
    """Correlations among the variables shown, and who could stand in for a selected one.

    ``near`` has, for a selected column, the columns of largest absolute correlation among all, with
    that correlation, as far as it is beyond ``threshold``.
    """

    columns: Array
    correlation: Floats
    near: dict[int, tuple[tuple[int, float], ...]]
    threshold: float = 0.7

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return it as plain values, with names of the variables."""
        return {
            "variables": [names[j] for j in self.columns],
            "positions": [int(j) for j in self.columns],
            "correlation": numbers(self.correlation, 4),
            "threshold": self.threshold,
            "near": [
                {
                    "variable": names[j],
                    "others": [{"name": names[k], "correlation": round(r, 4)} for k, r in ks],
                }
                for j, ks in self.near.items()
            ],
        }


@dataclass(frozen=True, repr=False)
class ModelsView(Shown):
    """The most probable models, and the variables that are in any of them.

    Attributes
    ----------
    probability : array of shape (M,)
        Of each model, the best first.
    size : array of int of shape (M,)
        How many variables each has, covariates not counted.
    columns : array of int of shape (k,)
        The variables shown, the most probable first.
    effect : array of shape (M, k)
        Coefficients given the model, in the user's units; NaN where a variable is out.
    """

    probability: Floats
    size: Array
    columns: Array
    effect: Floats

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return it as plain values, with names of the variables."""
        return {
            "probability": numbers(self.probability),
            "size": [int(k) for k in self.size],
            "variables": [names[j] for j in self.columns],
            "positions": [int(j) for j in self.columns],
            "effect": numbers(self.effect),
        }


@dataclass(frozen=True, repr=False)
class ClassEffects(Shown):
    """Effects by class, or by response where several numbers are explained at once.

    Attributes
    ----------
    kind : str
        "class" or "response".
    names : tuple of K str
    effect : array of shape (K, D)
        Coefficients in the user's units; 0 where a variable does not matter for a class.
    """

    kind: str
    names: tuple[str, ...]
    effect: Floats

    @property
    def strongest(self) -> Array:
        """The class that each variable matters most to, as a position among the names."""
        return np.abs(self.effect).argmax(axis=0)

    def names_of(self, variables: Array | Sequence[int]) -> list[str]:
        """Return the class that each of some variables matters most to, by name."""
        return [self.names[k] for k in self.strongest[variables]]

    @property
    def largest(self) -> Floats:
        """The effect of each variable on the class that it matters most to."""
        return np.take_along_axis(self.effect, self.strongest[None, :], axis=0)[0]

    def counts(self, selected: Array) -> list[int]:
        """Return how many of the selected variables matter for each class."""
        return [int(np.count_nonzero(row[selected])) for row in self.effect]
