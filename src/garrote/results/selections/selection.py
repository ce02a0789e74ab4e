"""Which variables were chosen, how sure that is, and how it was found: what every method returns.

A `Selection` holds all that a report tells, so that no picture needs the data again. Its optional
parts (a path, a validation, predictions, stand-ins, models) are there where the method gives them.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from garrote.arrays import Array, Floats
from garrote.results.credible_sets import CredibleSet
from garrote.results.error_control import ErrorControl
from garrote.results.selections import words
from garrote.results.selections.curves import Curve
from garrote.results.selections.data_check import DataCheck
from garrote.results.selections.document import as_document
from garrote.results.selections.evidence import STANDARDISED, strength
from garrote.results.selections.groups import VariableGroups
from garrote.results.selections.locus import Locus, Placed
from garrote.results.selections.merging import by_variable
from garrote.results.selections.stability import Stability
from garrote.results.selections.tabulating import selection_table
from garrote.results.selections.verdict import Account, Verdict
from garrote.results.selections.views import StandIns
from garrote.summaries import Summary, Table, listing, shortened
from garrote.zscores.consistency import Consistency


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
    doubts : tuple of str
        Those of the warnings that put all of the answer in doubt, and are told before it.
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
    placed : Placed or None
        Chromosomes, positions and alleles of variables that are genetic variants.
    credible_sets : tuple of CredibleSet
        Sets of variables of which at least one is in, with a probability of at least ``level``.
    groups : VariableGroups or None
        Which columns are one variable, as the levels of a word, where some are. ``names`` and all arrays
        are of columns; `by_variable` has one entry for each variable.
    curves : tuple of Curve
        Effects that are curves, where such were asked for.
    control : ErrorControl or None
        What the method promises of variables that it selects falsely, where it promises anything.

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
    placed: Placed | None = None
    groups: VariableGroups | None = None
    curves: tuple[Curve, ...] = ()
    doubts: tuple[str, ...] = ()
    control: ErrorControl | None = None

    @cached_property
    def by_variable(self) -> "Selection":
        """The same with one entry for each variable, however many columns it has."""
        return by_variable(self)

    def table(self, all_variables: bool = False) -> Table:
        """Return the selected variables, or all, ranked by evidence and size of effect.

        That of all variables says which are selected, and in which credible set each is, if any. A
        variable of several columns has a row for itself, and one below it for each of its levels.
        """
        return selection_table(self, all_variables)

    @property
    def shared_sets(self) -> tuple[CredibleSet, ...]:
        """The credible sets of several variables: one of them is in, and which one is not known."""
        return tuple(one for one in self.by_variable.credible_sets if len(one) > 1)

    @property
    def undecided_sets(self) -> tuple[CredibleSet, ...]:
        """The credible sets of which no variable is selected by itself."""
        selected = self.by_variable.selected
        return tuple(one for one in self.shared_sets if not selected[one.variables].any())

    def sets_table(self) -> Table:
        """Return the credible sets, those of the strongest evidence first."""
        sets = self.by_variable.credible_sets
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
        size = np.abs(self.effect) / np.where(self.standard_error > 0, self.standard_error, np.inf)
        evidence = strength(self.evidence, self.probability)
        return np.lexsort((-size, -evidence.round(6), ~self.selected))

    @property
    def headline(self) -> str:
        """How many variables were selected, of how many, in how many pieces, and sets beside them."""
        return words.headline(self)

    @property
    def stability_in_words(self) -> str:
        """What refits say of the selected variables, in a sentence; "" where there were none."""
        return words.stability_in_words(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """The warnings that are told after the answer: all but the doubts."""
        return tuple(text for text in self.warnings if text not in self.doubts)

    @property
    def affected(self) -> str:
        """What effects are on: the response, or the log odds of it."""
        return words.affected(self)

    @property
    def effects_in_words(self) -> str:
        """What effects are on, in a sentence; "" where they are in the units of the data."""
        return words.effects_in_words(self)

    @property
    def per(self) -> str:
        """How much of a variable effects are for."""
        return STANDARDISED[:-1] if self.effect_scale == STANDARDISED else "unit"

    @property
    def evidence_noun(self) -> str:
        """One word for the kind of evidence: probability, entry."""
        return self.evidence.split()[-1]

    @property
    def n_selected(self) -> int:
        """How many variables were selected, not counting covariates."""
        found = self.by_variable
        return int(found.selected.sum()) - len(found.always_in)

    def held_out_error(self) -> tuple[float, float] | None:
        """Return the validation error at the strength in use and that of the null model."""
        if self.validation is None:
            return None
        # Without a path there is one error, that of the answer.
        chosen = 0 if self.path is None else self.path.chosen
        return float(self.validation.mean[chosen]), self.validation.null

    @property
    def locus(self) -> Locus:
        """All variables along their positions, with probabilities, z-scores and credible sets."""
        at = (
            np.arange(len(self.names), dtype=np.float64)
            if self.positions is None
            else self.positions
        )
        return Locus.of(at, self.probability, self.marginal_z, self.credible_sets)

    def summary(self) -> Summary:
        """Return what was found as a table that prints, shows as HTML and becomes a data frame."""
        return words.summary(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain Python values; the documentation describes the schema.

        Of many variables only those with some evidence are listed; ``unlisted`` counts the others.
        """
        return as_document(self)

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

    def annotated(
        self, notes: Sequence[str] = (), provenance: dict[str, Any] | None = None, **parts: Any
    ) -> "Selection":
        """Return the same selection that tells more: notes before its own, where it came from, parts."""
        return replace(
            self,
            warnings=(*notes, *self.warnings),
            provenance={**self.provenance, **(provenance or {})},
            **parts,
        )

    def doubted(self, doubts: Sequence[str]) -> "Selection":
        """Return the same selection with what puts all of it in doubt, first among its warnings."""
        return replace(self, doubts=(*doubts, *self.doubts), warnings=(*doubts, *self.warnings))

    def at_positions(self, positions: Any) -> "Selection":
        """Return the same selection with variables at some positions, a number for each of them."""
        at = np.asarray(positions, dtype=np.float64)
        if at.shape != (len(self.names),) or not np.isfinite(at).all():
            raise ValueError(
                f"positions must be {len(self.names)} finite numbers, one for each variable, got shape "
                f"{at.shape}"
            )
        return replace(self, positions=at)

    def at_variants(self, placed: Placed) -> "Selection":
        """Return the same selection, of variables that are variants with their places and alleles."""
        return replace(self, placed=placed, positions=placed.at)

    def __str__(self) -> str:
        return words.as_text(self, str)

    def __repr__(self) -> str:
        return shortened(words.as_text(self, repr))

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
