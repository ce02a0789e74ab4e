"""What the displays of a fitted selection share: how they find it, and how they are drawn at once."""

from abc import ABC, abstractmethod
from typing import Any, Self

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from garrote.results.selections.selection import Selection
from garrote.results.selections.views import PathView


class SelectionDisplay(ABC):
    """A picture of a `Selection`."""

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, ax: Any = None, name: str | None = None, **options: Any
    ) -> Self:
        """Draw what a fitted estimator found.

        Parameters
        ----------
        estimator : estimator
            Fitted, with a ``selection_``; or a pipeline that ends in one, or a search over one.
        ax : matplotlib Axes, optional
            Where to draw, by default a new figure; several where the picture has several panels.
        name : str, optional
            The title; by default the method, none if empty.
        **options
            Passed to `plot`.
        """
        read = cls._read_fitted(fitted_estimator(estimator))
        return read.plot(ax, name=name, **options)

    @classmethod
    def from_selection(
        cls, selection: Selection, *, ax: Any = None, name: str | None = None, **options: Any
    ) -> Self:
        """Draw a `Selection`; parameters are those of `from_estimator`."""
        return cls._read(selection).plot(ax, name=name, **options)

    @classmethod
    def _read_fitted(cls, fitted: Any) -> Self:
        """Take from a fitted estimator what the picture shows: of its selection, unless it has more."""
        return cls._read(fitted.selection_)

    @classmethod
    @abstractmethod
    def _read(cls, selection: Selection) -> Self:
        """Take from a selection what the picture shows."""

    @abstractmethod
    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Draw the picture."""


def fitted_estimator(estimator: Any) -> Any:
    """Return the estimator that selected, out of pipelines and searches."""
    estimator = innermost(estimator)
    if not hasattr(estimator, "selection_"):
        raise TypeError(
            f"{type(estimator).__name__} has no selection_ to draw: "
            "give a fitted selector, such as garrote.VariationalGarrote"
        )
    return estimator


def innermost(estimator: Any) -> Any:
    """Return the last estimator of a fitted pipeline, the best one of a search, or what is given."""
    check_is_fitted(estimator)
    while isinstance(estimator, Pipeline) or hasattr(estimator, "best_estimator_"):
        inner = estimator[-1] if isinstance(estimator, Pipeline) else estimator.best_estimator_
        estimator = inner
    return estimator


def gamma_and_samples(estimator: Any) -> tuple[float, float]:
    """Return the gamma that a fitted estimator uses, and the total weight of its rows."""
    fitted = fitted_estimator(estimator)
    if not hasattr(fitted, "gamma_"):
        raise TypeError(
            f"{type(fitted).__name__} has no gamma, which this picture is about: give a fitted "
            "garrote.VariationalGarrote, or draw the theory alone by from_theory"
        )
    return float(fitted.gamma_), float(fitted.selection_.provenance["total_weight"])


def path_of(selection: Selection) -> PathView:
    """Return the path of a selection, or say that there is none."""
    if selection.path is None:
        raise ValueError(
            f"the {selection.method} was fitted without a path: use a method that follows one, "
            "such as garrote.VariationalGarrote"
        )
    return selection.path
