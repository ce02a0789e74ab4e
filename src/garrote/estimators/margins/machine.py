"""What support vector machines of labels and of numbers share: settings, training, decisions."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Array, Floats
from garrote.designs.base import is_design
from garrote.estimators.given.inputs import check_new_rows
from garrote.estimators.margins.rows import TrainingRows, row_blocks, training_rows
from garrote.estimators.relevance.kernel_machine import KernelSettings, kernel_width
from garrote.estimators.shared.saving import SaveMixin
from garrote.results.certificates import Certificate, of_margins
from garrote.settings import check_count, check_positive, is_number
from garrote.solvers.control import Progress
from garrote.solvers.margins.duality import Gap, gap, null_objective
from garrote.solvers.margins.guarantee import guaranteed_width
from garrote.solvers.margins.hard_margin import train_hard
from garrote.solvers.margins.losses import Margins
from garrote.solvers.margins.narrowing import Narrowing, Trained, train
from garrote.solvers.smoothing.kinks import KINKS

# By what a width is multiplied where shrinking=True.
_FACTOR = 0.2
_LOSSES = ("gaussian", "huber")


class Solved(NamedTuple):
    """A trained machine as it is stated: coefficients of rows or columns, intercept, pulls, gap."""

    coef: Floats
    intercept: float
    pull: Floats
    trained: Trained
    gap: Gap


class SmoothMachine(SaveMixin, KernelSettings):
    """A machine trained by smoothing, which says sum of dual_coef_ k(x_i, x) + intercept_ of a row x."""

    C: float
    loss: str
    shrinking: Any
    sigma: float | None
    landmarks: int | None
    tol: float
    max_iter: int
    random_state: Any
    callback: Any
    certificate_: Certificate

    def _check_settings(self) -> None:
        """Refuse settings that no data could make right."""
        self._check_kernel()
        check_positive("C", self.C)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter, 1)
        if self.loss not in _LOSSES:
            raise ValueError(f"loss must be one of {_LOSSES}, got {self.loss!r}")
        if self.sigma is not None:
            check_positive("sigma", self.sigma)
        if self.landmarks is not None:
            check_count("landmarks", self.landmarks, 1)
        named = isinstance(self.shrinking, bool | np.bool_)
        if not named and not (is_number(self.shrinking) and 0 < self.shrinking < 1):
            raise ValueError(
                f"shrinking must be True, False or a factor between 0 and 1, got {self.shrinking!r}"
            )
        if self.kernel in ("poly", "polynomial"):
            check_positive("degree", self.degree)
        if not is_number(self.coef0):
            raise ValueError(f"coef0 must be a finite number, got {self.coef0!r}")

    def _numbers(self, X: Any) -> Any:
        """Return checked rows in the form that kernels take."""
        if is_design(X):
            raise TypeError(
                f"{type(self).__name__} takes arrays, sparse matrices and data frames, not a "
                f"{type(X).__name__}: give the rows themselves"
            )
        if not scipy.sparse.issparse(X):
            return np.asarray(X, dtype=np.float64)
        if self.kernel in ("precomputed", "laplacian"):
            raise ValueError(f"kernel={self.kernel!r} needs dense rows: give X.toarray()")
        return X.tocsr().astype(np.float64)

    def _rows(self, X: Any, weights: Floats) -> tuple[TrainingRows, Array]:
        """Return the space of the rows that have weight, and which these are."""
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel has a row and a column for each sample, got shape {X.shape}"
            )
        self.gamma_ = kernel_width(self.gamma, X, weights)
        kept = np.flatnonzero(weights > 0)
        if len(kept) < X.shape[0]:
            X = X[np.ix_(kept, kept)] if self.kernel == "precomputed" else X[kept]
        return training_rows(self, X, weights[kept]), kept

    def _kernel(self, X: Any, rows: Any) -> Floats:
        """Return kernel values, all of them finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = super()._kernel(X, rows)
        if not np.isfinite(found).all():
            raise ValueError(
                f"the {self.kernel} kernel is not finite for these rows: standardise the columns, lower "
                "degree and gamma, or take a whole number for degree"
            )
        return found

    def _rows_of(self, X: Any, positions: Array) -> Any:
        """Return rows to compare others with: themselves, or their positions in a given kernel."""
        return positions if self.kernel == "precomputed" else X[positions]

    def _solve(
        self, rows: TrainingRows, margins: Margins, weights: Floats, members: Array | None = None
    ) -> Solved:
        """Train one machine on some of the rows, and compute its gap from its coefficients."""
        space, kink, everyone = rows.space, KINKS[self.loss], len(weights)
        if members is not None and len(members) < everyone:
            space, weights = space.among(members), weights[members]
        by_gaussians = self.loss == "gaussian"
        scales = np.sqrt(space.squared_rows(weights)) if by_gaussians else np.ones(len(weights))
        factor = float(self.shrinking) if is_number(self.shrinking) else _FACTOR
        first, last = self.sigma, None
        if not self.shrinking:  # one width, which wider ones lead to
            first, last = None, self.sigma
            if last is None:
                error = self.tol * max(null_objective(margins), 1e-300)
                last = guaranteed_width(space, margins, kink, scales, error, weights)
        narrowing = Narrowing(first, factor, last, self.tol, self.max_iter)
        found = train(space, margins, kink, scales, narrowing, self._report)
        if not found.converged and self.shrinking and len(margins.at) == 1:
            hard = train_hard(space, margins, kink, scales, narrowing, self._report)
            if hard is not None and hard.gap.relative < found.gap.relative:
                found = hard._replace(steps=found.steps + hard.steps)
        coef, intercept, pull = found.point.coef, found.point.intercept, found.pull
        stated = gap(space, margins, space.at(coef, intercept), pull)
        if len(pull) < everyone:
            pull = _spread(pull, members, everyone)
            coef = _spread(coef, members, everyone) if space.by_rows else coef
        return Solved(coef, intercept, pull, found, stated)

    def _report(self, steps: int, reached: float) -> None:
        if self.callback is not None:
            self.callback(Progress("narrowing", steps, self.max_iter))

    def _keep(self, X: Any, rows: TrainingRows, kept: Array, machines: list[Solved]) -> None:
        """Keep what predicts, and what certifies."""
        coef = np.stack([one.coef for one in machines])
        intercept = np.array([one.intercept for one in machines])
        pulls = np.stack([one.pull for one in machines])
        self.__dict__.pop("coef_", None)
        near = np.flatnonzero(pulls.any(axis=0))
        dual = 0.5 * pulls[:, near]
        self.support_ = kept[near]
        if rows.linear:
            intercept = intercept - coef @ rows.center
            self.coef_ = coef
        elif rows.basis is not None and rows.expand is not None:
            near, dual = rows.basis, coef @ rows.expand.T
        self.dual_coef_, self.intercept_ = dual, intercept
        self.basis_ = kept[near]
        self.basis_vectors_ = self._rows_of(X, self.basis_)
        self.n_iter_ = np.array([one.trained.steps for one in machines])
        self.sigma_ = np.array([one.trained.width for one in machines])
        self.objective_ = np.array([one.gap.objective for one in machines])
        worst = max((one.gap for one in machines), key=lambda found: found.relative)
        self.certificate_ = of_margins(worst.relative, max(one.gap.of_null for one in machines))
        self._warn(machines)

    def _warn(self, machines: list[Solved]) -> None:
        late = [one for one in machines if not one.trained.converged]
        if late:
            steps = max(one.trained.steps for one in late)
            asked = f"and tol is {self.tol:g}" if self.shrinking else "and sigma was not reached"
            warnings.warn(
                f"after {steps} Newton steps the objective may still be above the best by "
                f"{self.certificate_.value:.1e} of itself, {asked}: raise max_iter or tol, or "
                "standardise the columns",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _decide(self, X: Any) -> Floats:
        """Return what every machine says of checked rows, a column for each."""
        if hasattr(self, "coef_"):
            return np.asarray(X @ self.coef_.T) + self.intercept_
        found = np.empty((X.shape[0], len(self.intercept_)))
        if not len(self.basis_):
            return np.broadcast_to(self.intercept_, found.shape).copy()
        for block in row_blocks(X.shape[0], len(self.basis_)):
            found[block] = self._kernel(X[block], self.basis_vectors_) @ self.dual_coef_.T
        return found + self.intercept_

    def _decisions(self, X: Any) -> Floats:
        check_is_fitted(self, "dual_coef_")
        return self._decide(self._numbers(check_new_rows(self, X)))


def _spread(values: Floats, members: Array | None, count: int) -> Floats:
    """Return values of some rows among those of all, which have 0."""
    found = np.zeros(count)
    found[members] = values
    return found
