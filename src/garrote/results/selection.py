"""Which variables were chosen, how sure that is, and how it was found: what every method returns.

A `Selection` holds all that a report tells, so that no picture needs the data again. Its optional
parts (a path, a validation, predictions, stand-ins, models) are there where the method gives them.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.files.json_values import number
from garrote.results.credible_sets import CredibleSet
from garrote.results.data_check import DataCheck
from garrote.results.locus import Locus
from garrote.results.selection_views import StandIns
from garrote.results.stability import Stability
from garrote.results.verdict import Account, Verdict
from garrote.summaries import Summary, Table, listing, shortened
from garrote.zscores.consistency import Consistency

SCHEMA = "garrote.selection/1"
# Beside the selected variables, so many others are written out at most ...
_MOST_LISTED = 200
# ... if their evidence is at least this, or a picture shows them.
_LEAST_EVIDENCE = 0.01
# The evidence of a penalised path, whose last word is its noun as with every kind of evidence.
ENTRY = "alpha at which a variable enters, of the largest: entry"
# The evidence of an annealed garrote: too sure among correlated columns, as every mean field is.
VARIATIONAL = "variational inclusion probability"
# The evidence where no variable is ever left out: how sure the sign of its effect is.
SIGN = "posterior sign probability"
# What effects change, and for what of a variable, where neither has units of its own.
STANDARDISED = "standard deviations"
# Variables of a credible set that are named in one line.
_MOST_NAMED = 12


def is_certainty(evidence: str) -> bool:
    """Tell whether a kind of evidence says how sure a variable is: `border` has the border then."""
    return evidence.split()[-1:] != ENTRY.split()[-1:]


def border(evidence: str, level: float = 0.95) -> float:
    """Return what the evidence of a selected variable is beyond, intervals being of some level."""
    return 0.5 + level / 2 if evidence == SIGN else 0.5


@dataclass(frozen=True, kw_only=True, repr=False)
class Selection(Verdict, Account):
    """Which variables were chosen, how sure that is, and how it was found.

    Attributes
    ----------
    method : str
        The method's name in full.
    response : str
        The name of what is explained.
    names : tuple of str
        All variables.
    selected : array of bool
        Which are in the model; covariates are.
    probability : array
        The evidence for each variable; its kind is in ``evidence``.
    effect, standard_error, lower, upper : array
        Coefficients in the user's units with their intervals; NaN where none is stated.
    interchangeable : dict
        Selected name -> names of columns that could stand in for it (correlation beyond 0.999).
    constant : tuple of str
        Columns without variation (beyond that of the covariates), which cannot be selected.
    always_in : tuple of str
        Covariates, which are in the model without having been selected.
    intervals : str
        What the intervals are conditional on.
    rule : str
        How the choice was made.
    noise_variance : float
        NaN where the response has no noise beside its mean, as labels and counts.
    certificate : Certificate
    converged : bool
        Whether every fit behind the selection reached its tolerance.
    warnings : tuple of str
        What a reader should know before trusting the answer.
    provenance : dict
        Settings, versions, sizes and the fingerprint of the data.
    path, validation, predictions, stand_ins, models
        Where the method gives them, else None.
    consistency : Consistency or None
        Of a selection from z-scores: whether they agree with LD.
    effect_scale : str
        What of the response effects change: "log odds" or "log rate"; "" for the response itself.
        "standard deviations" where they are for one standard deviation of a variable, too.
    stability : Stability or None
        Where refits were asked for: in how many of them each variable was selected again.
    pieces : int, optional
        How many pieces of equal effects there are, other than 0, where the penalty makes such.
    check : DataCheck or None
        What a look at the table found before the fit, where one was read.
    by_class : ClassEffects or None
        Of several classes or responses, the effects on each; ``effect`` has the largest of them.
    deviation : array or None
        Standard deviations of the variables; None where effects are for one of these already.
    marginal_z : array or None
        Z-scores of the variables one by one, all others left out (covariates taken off).
    positions : array or None
        Where variables are, such as on a chromosome; used by pictures alone.
    credible_sets : tuple of CredibleSet
        Sets of variables of which at least one is in, with a probability of at least ``level``.

    Examples
    --------
    >>> from garrote import VariationalGarrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> selection = VariationalGarrote().fit(data.X, data.y).selection_
    >>> selection.headline
    '2 of 20 variables selected'
    >>> selection.table().columns["variable"]
    ['x16', 'x12']
    """

    names: tuple[str, ...]
    level: float
    interchangeable: dict[str, tuple[str, ...]]
    constant: tuple[str, ...]
    always_in: tuple[str, ...]
    warnings: tuple[str, ...]
    stand_ins: StandIns | None = None
    effect_scale: str = ""
    consistency: Consistency | None = None
    stability: Stability | None = None
    check: DataCheck | None = None
    deviation: Floats | None = None
    marginal_z: Floats | None = None
    positions: Floats | None = None

    def table(self, all_variables: bool = False) -> Table:
        """Return the selected variables, or all, ranked by evidence and size of effect.

        That of all variables says which are selected, and in which credible set each is, if any.
        """
        order = self.ranked()
        if not all_variables:
            order = order[self.selected[order]]
        percent = f"{100 * self.level:g}%"
        with_sets = all_variables or bool(self.shared_sets)
        member = {int(j): k for k, one in enumerate(self.credible_sets, 1) for j in one.variables}
        return Table(
            {
                "variable": [self.names[j] for j in order],
                **({"selected": [bool(self.selected[j]) for j in order]} if all_variables else {}),
                self.evidence_noun: [float(self.probability[j]) for j in order],
                **self._found_again(order),
                **({"set": [member.get(int(j)) for j in order]} if with_sets else {}),
                **({self.by_class.kind: self._classes_of(order)} if self.by_class else {}),
                "effect": [float(self.effect[j]) for j in order],
                "std. error": [float(self.standard_error[j]) for j in order],
                f"lower {percent}": [float(self.lower[j]) for j in order],
                f"upper {percent}": [float(self.upper[j]) for j in order],
            }
        )

    def _found_again(self, order: Array) -> dict[str, list[str]]:
        """Return the column that says in how many refits variables came back, where there were any."""
        if self.stability is None:
            return {}
        return {"found again": [self.stability.in_words(int(j)) for j in order]}

    @property
    def stability_in_words(self) -> str:
        """What refits say of the selected variables, in a sentence; "" where there were none."""
        if self.stability is None or not self.n_selected:
            return ""
        return self.stability.sentence(self.names, self.selected, self.shared_sets)

    def _classes_of(self, order: Array) -> list[str]:
        """Return which class variables matter most to."""
        assert self.by_class is not None
        return [self.by_class.names[k] for k in self.by_class.strongest[order]]

    @property
    def shared_sets(self) -> tuple[CredibleSet, ...]:
        """The credible sets of several variables: one of them is in, and which one is not known."""
        return tuple(one for one in self.credible_sets if len(one) > 1)

    @property
    def undecided_sets(self) -> tuple[CredibleSet, ...]:
        """The credible sets of which no variable is selected by itself."""
        return tuple(one for one in self.shared_sets if not self.selected[one.variables].any())

    def sets_table(self) -> Table:
        """Return the credible sets, those of the strongest evidence first."""
        sets = self.credible_sets
        table = Table(
            {
                "set": list(range(1, len(sets) + 1)),
                "one of": [listing(one.names, str, 8) for one in sets],
                "size": [len(one) for one in sets],
                "probability": [one.coverage for one in sets],
                "purity": [one.purity for one in sets],
                "log Bayes factor": [one.log_bayes_factor for one in sets],
            }
        )
        return table.without_empty()

    def ranked(self) -> Array:
        """Return the positions of all variables, the selected and most certain first."""
        strength = np.abs(self.effect) / np.where(
            self.standard_error > 0, self.standard_error, np.inf
        )
        return np.lexsort((-strength, -self.probability.round(6), ~self.selected))

    @property
    def headline(self) -> str:
        """How many variables were selected, of how many, in how many pieces, and sets beside them."""
        fixed = len(self.always_in)
        beside = f" beside {fixed} always in" if fixed else ""
        of_all = f"{self.n_selected} of {len(self.names) - fixed} variables selected{beside}"
        if self.stability is not None:
            rare = len(self.stability.rare(self.selected, self.shared_sets))
            whose = (
                "which most refits do not find"
                if rare == self.n_selected
                else f"{rare} of which most refits do not find"
            )
            of_all += f" ({whose} again)" if rare else ""
        undecided = self.undecided_sets
        if undecided:
            several = f"each of {len(undecided)} sets"
            which = several if len(undecided) > 1 else f"a set of {len(undecided[0])}"
            return f"{of_all}, and one of {which}"
        if self.pieces is None or not self.n_selected:
            return of_all
        return f"{of_all}, in {self.pieces} piece{'s' * (self.pieces != 1)} of equal effects"

    @property
    def affected(self) -> str:
        """What effects are on: the response, or the log odds of it."""
        if self.effect_scale == STANDARDISED:
            return f"{self.response} in {STANDARDISED}"
        return f"{self.effect_scale} of {self.response}" if self.effect_scale else self.response

    @property
    def per(self) -> str:
        """How much of a variable effects are for."""
        return STANDARDISED[:-1] if self.effect_scale == STANDARDISED else "unit"

    @property
    def effects_in_words(self) -> str:
        """What effects are on, in a sentence; "" where they are in the units of the data."""
        if self.effect_scale == STANDARDISED:
            return (
                f"effects are in standard deviations: of {self.response}, for one of the variable"
            )
        return f"effects are on the {self.affected}" if self.effect_scale else ""

    @property
    def evidence_noun(self) -> str:
        """One word for the kind of evidence: probability, entry."""
        return self.evidence.split()[-1]

    @property
    def n_selected(self) -> int:
        """How many were selected, not counting covariates."""
        return int(self.selected.sum()) - len(self.always_in)

    def held_out_error(self) -> tuple[float, float] | None:
        """Return the validation error at the strength in use and that of the null model."""
        if self.validation is None:
            return None
        # Without a path there is one error, that of the answer.
        chosen = 0 if self.path is None else self.path.chosen
        return float(self.validation.mean[chosen]), self.validation.null

    def summary(self) -> Summary:
        """Return what was found as a table that prints, shows as HTML and becomes a data frame."""
        noise = f"noise variance {self.noise_variance:.4g}, "
        facts = [
            f"{self.method}: {self.headline}",
            self.rule,
            f"{noise if np.isfinite(self.noise_variance) else ''}certificate {self.certificate}",
        ]
        errors = self.held_out_error()
        if errors and self.validation:
            facts.append(
                f"held-out {self.validation.measure} {errors[0]:.4g}, null model {errors[1]:.4g}"
            )
        if self.path is not None and self.path.hysteresis:
            low, high = self.path.hysteresis
            facts.append(
                f"forward and backward solutions differ for gamma in [{low:.4g}, {high:.4g}]"
            )
        facts += [set_in_words(one) for one in self.shared_sets]
        facts += filter(None, [self.stability_in_words])
        if self.effects_in_words:
            facts.append(self.effects_in_words)
        return Summary((*facts, *self.warnings, self.intervals), self.table().without_empty())

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain Python values; the documentation describes the schema.

        Of many variables only those with some evidence are listed; ``unlisted`` counts the others.
        """
        listed = self._listed()
        return {
            "schema": SCHEMA,
            "method": self.method,
            "response": self.response,
            "n_variables": len(self.names),
            "n_selected": self.n_selected,
            "pieces": self.pieces,
            "evidence": self.evidence,
            "rule": self.rule,
            "variables": [self._variable(j) for j in listed],
            "unlisted": self._unlisted(listed),
            "effect_scale": self.effect_scale,
            "classes": self._classes(),
            "interval_level": self.level,
            "intervals": self.intervals,
            "always_in": list(self.always_in),
            "interchangeable": {k: list(v) for k, v in self.interchangeable.items()},
            "constant": list(self.constant),
            "noise_variance": number(self.noise_variance),
            "certificate": {
                "kind": self.certificate.kind,
                "value": number(self.certificate.value),
                "parts": {name: number(v) for name, v in self.certificate.parts.items()},
            },
            "converged": self.converged,
            "warnings": list(self.warnings),
            "path": _values(self.path, self.names),
            "validation": _values(self.validation),
            "predictions": _values(self.predictions),
            "stand_ins": _values(self.stand_ins, self.names),
            "models": _values(self.models, self.names),
            "credible_sets": [one.to_dict() for one in self.credible_sets],
            "consistency": _values(self.consistency),
            "stability": _values(self.stability, self.names, self.selected, self.shared_sets),
            "check": _values(self.check),
            "locus": _values(self._shown_locus(), self.names),
            "provenance": self.provenance,
        }

    def _listed(self) -> Array:
        ranked = self.ranked()
        wanted = self.selected | (self.probability >= _LEAST_EVIDENCE)
        if self.path is not None:
            wanted[self.path.columns] = True
        order = ranked[wanted[ranked]]
        return order[: max(_MOST_LISTED, int(self.selected.sum()))]

    def _variable(self, j: int) -> dict[str, Any]:
        return {
            "name": self.names[j],
            "position": int(j),
            "selected": bool(self.selected[j]),
            "probability": number(self.probability[j]),
            "effect": number(self.effect[j]),
            "standard_error": number(self.standard_error[j]),
            "lower": number(self.lower[j]),
            "upper": number(self.upper[j]),
            "sign": int(np.sign(self.effect[j])),
            "found_again": None if self.stability is None else int(self.stability.found[j]),
            "deviation": None if self.deviation is None else number(self.deviation[j]),
            "class": self._classes_of(np.array([j]))[0] if self.by_class else None,
        }

    def _classes(self) -> dict[str, Any] | None:
        """Return how many of the selected variables matter for each of several classes."""
        found = self.by_class
        if found is None:
            return None
        free = self.selected & ~np.isin(self.names, self.always_in)
        return {"kind": found.kind, "names": list(found.names), "counts": found.counts(free)}

    @property
    def locus(self) -> Locus:
        """All variables along their positions, with probabilities, z-scores and credible sets."""
        at = (
            np.arange(len(self.names), dtype=np.float64)
            if self.positions is None
            else self.positions
        )
        return Locus.of(at, self.probability, self.marginal_z, self.credible_sets)

    def _shown_locus(self) -> Locus | None:
        """Return what the report draws; None of a table whose columns have no order that matters."""
        # Single effects state how strong each is: whoever asks for them asks for a place.
        effects = any(np.isfinite(one.log_bayes_factor) for one in self.shared_sets)
        ordered = self.positions is not None or self.consistency is not None or effects
        return self.locus.thinned() if ordered and is_certainty(self.evidence) else None

    def _unlisted(self, listed: Array) -> dict[str, Any]:
        others = np.delete(self.probability, listed)
        return {"count": len(others), "largest_probability": number(others.max(initial=0.0))}

    def to_json(self, indent: int | None = None) -> str:
        """Return `to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def report(
        self, path: str | os.PathLike[str], *, title: str | None = None, positions: Any = None
    ) -> None:
        """Write one self-contained HTML file that tells the whole story.

        ``positions`` are where variables are, such as on a chromosome: the report draws them there.
        """
        from garrote.report import write_report

        shown = self if positions is None else self.at_positions(positions)
        write_report(shown.to_dict(), path, title=title)

    def at_positions(self, positions: Any) -> "Selection":
        """Return the same selection with variables at some positions, a number for each of them."""
        at = np.asarray(positions, dtype=np.float64)
        if at.shape != (len(self.names),) or not np.isfinite(at).all():
            raise ValueError(
                f"positions must be {len(self.names)} finite numbers, one for each variable, got shape "
                f"{at.shape}"
            )
        return replace(self, positions=at)

    def __str__(self) -> str:
        return self._in_words(str)

    def __repr__(self) -> str:
        return shortened(self._in_words(repr))

    def _in_words(self, show: Callable[[Table], str]) -> str:
        lines = [f"{self.headline} ({self.rule})"]
        if self.selected.any():
            lines.append(show(self.table().without_empty()))
        lines += [set_in_words(one) for one in self.shared_sets]
        lines += filter(None, [self.stability_in_words])
        lines += [*self.warnings, self.intervals, f"certificate {self.certificate}"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def set_in_words(one: CredibleSet, names: Sequence[str] | None = None) -> str:
    """Return a credible set of several variables in words; ``names`` may be shorter than its own."""
    listed = listing(names or one.names, str, _MOST_NAMED)
    how_alike = f"correlations of at least {one.purity:.2f}"
    return f"one of these {len(one)}: {listed} (probability {one.coverage:.2f}, {how_alike})"


def _values(part: Any, *told: Any) -> dict[str, Any] | None:
    """Return a part of a selection as plain values; None where there is none."""
    return None if part is None else part.to_dict(*told)
