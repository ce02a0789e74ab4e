"""What transformers share that learn their atoms: where these begin, batches, what is kept."""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from garrote.arrays import Floats
from garrote.coding.atoms import atoms_to_begin_with, of_length_one
from garrote.coding.coders import CodingMethod
from garrote.coding.learners import Learned, Memory, Online, Task
from garrote.coding.learners.certifying import learned_certificate
from garrote.coding.record import LearningRecord
from garrote.coding.signals import check_signals, count_distinct, signal_weights
from garrote.coding.transformer import CodingTransformer
from garrote.estimators.shared.posterior_settings import seed_of
from garrote.results.certificates import Certificate
from garrote.settings import check_count
from garrote.solvers.coding.dealing import dense_rows
from garrote.solvers.control import Control


class LearningTransformer(CodingTransformer):
    """The base of transformers whose atoms are learned.

    A class says by `_first_atoms` how these begin.
    """

    n_components: int | None
    dictionary: Any
    warm_start: bool
    random_state: Any
    callback: Any

    def _first_atoms(self, count: int, X: Any, weights: Floats, rng: np.random.Generator) -> Floats:
        """Return so many atoms to begin with, where none are given."""
        raise NotImplementedError

    def _task(
        self, X: Any, weights: Floats, coder: CodingMethod, name: str, *, whole: bool = True
    ) -> Task:
        """Return what there is to learn from, with atoms to begin with; refuse too many of them."""
        rng = np.random.default_rng(seed_of(self.random_state))
        signals, width = count_distinct(X, weights), X.shape[1]
        given = self.dictionary
        if self.warm_start and given is None:
            given = getattr(self, "components_", None)
        count = self.n_components
        if count is None:
            count = min(width, signals) if given is None else len(given)
        if whole and count > signals:
            raise ValueError(
                f"n_components={count} atoms cannot be learned from {signals} distinct signals, each "
                f"of which could have one of its own: give at most {signals}, or more signals"
            )
        if given is None:
            atoms = self._first_atoms(count, X, weights, rng)
        else:
            atoms = of_length_one(self._checked_atoms(given, width, count))
        report = partial(Control(callback=self.callback).report, name)
        decided = coder.for_signals(atoms, X, weights)
        return Task(X, weights, atoms, decided, rng, self.n_jobs, report)

    def _checked_atoms(self, given: Any, width: int, count: int) -> Floats:
        """Return given atoms to begin with; refuse what these cannot be."""
        atoms = atoms_to_begin_with(given, width, count)
        if self._positive and atoms.min() < 0:
            j = int(np.argmax(atoms.min(axis=1) < 0))
            raise ValueError(f"dictionary must be >= 0, got {atoms[j].min():.3g} in atom {j}")
        return atoms

    def _check_count(self) -> None:
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1)

    def _keep(self, learned: Learned, coder: CodingMethod) -> None:
        """Store what was learned."""
        self.components_, self.method_ = learned.atoms, coder
        self.record_: LearningRecord = learned.record
        self.n_iter_ = len(learned.record)
        if learned.memory is not None:
            inner, outer, steps = learned.memory
            self.memory_: tuple[Floats, Floats, int] = (inner, outer, steps)

    def _certify(self, X: Any, weights: Floats, of: int) -> None:
        """Measure codes and atoms on some of the signals."""
        self.certificate_: Certificate = learned_certificate(
            self.method_, self.components_, X, weights, self.n_jobs, of, self._positive
        )

    def _learn_batch(self, X: Any, sample_weight: Any, coder: CodingMethod, online: Online) -> None:
        """Go on from what is remembered, or begin."""
        first = not hasattr(self, "components_")
        X = check_signals(self, X, reset=first, positive=self._positive)
        weights = signal_weights(sample_weight, X)
        if first:
            begun = self._task(X, weights, coder, online.name, whole=False)
            atoms, memory, coder = begun.atoms, None, begun.coder
        else:
            atoms, memory, coder = self.components_.copy(), Memory(*self.memory_), self.method_
        rows = dense_rows(X, slice(None))
        memory, seen, replaced = online.step(
            atoms, memory, coder, rows, weights, self.n_jobs, self._positive
        )
        record = LearningRecord.of([seen.row(replaced)], False)
        record = record if first else self.record_.followed_by(record)
        self._keep(Learned(atoms, record, memory=memory), coder)
        self._certify(rows, weights, len(rows))

    def _warn(self, settings: Any) -> None:
        """Warn that the objective has not settled, and which ``settings`` ended it."""
        fell = self.record_.objective[-2:]
        warnings.warn(
            f"the objective still fell by a share of {1 - fell[-1] / fell[0]:.1e} in round "
            f"{self.n_iter_}, more than tol = {settings.tol:g}: raise max_rounds "
            f"({settings.max_rounds}) or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
