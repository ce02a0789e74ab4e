"""Settings of priors and methods as they are typed: those of the objects that an estimator is given."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from garrote.cli.errors import UsageError

# Settings of objects by names that say more where the object is not named.
_ALSO = {"slab_variance": "variance"}


class Parts(NamedTuple):
    """What may be set of an estimator's prior and of its method: their makers, the first being meant."""

    priors: Sequence[Callable[..., Any]]
    methods: Sequence[Callable[..., Any]]

    @property
    def names(self) -> list[str]:
        """All settings, by the names that are typed."""
        names = [name for kind in (*self.priors, *self.methods) for name in parameters_of(kind)]
        return list(dict.fromkeys([*names, *(name for name, to in _ALSO.items() if to in names)]))

    def put(self, settings: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
        """Return an estimator's settings with a prior and a method made of what was given of theirs."""
        typed = {_ALSO.get(name, name): value for name, value in given.items()}
        for part, kinds in (("prior", self.priors), ("method", self.methods)):
            theirs = {name for kind in kinds for name in parameters_of(kind)}
            chosen = {name: value for name, value in typed.items() if name in theirs}
            if chosen:
                kind = next((k for k in kinds if set(chosen) <= set(parameters_of(k))), kinds[0])
                settings = {**settings, part: kind(**chosen)}
        return settings


def parts_of(estimator: Any, given: Mapping[str, Any], labels: bool) -> Parts:
    """Return what may be set of the prior and the method of an estimator, as far as these are named.

    Where the method is not named a setting stands for the first method that has it.
    """
    from garrote.inference.choosing import WAYS
    from garrote.inference.methods import METHODS
    from garrote.priors import prior_class

    kind = getattr(estimator, "_kind", None)
    if kind is None:
        return _parts_of_path(estimator, given)
    family = _family("binomial" if labels else given.get("family") or "gaussian")
    integration = None if family is None else family.integration
    prior = given.get("prior", inspect.signature(estimator).parameters["prior"].default)
    _refuse_other_kind(prior, kind)
    methods = [way for asked, way in WAYS[integration] if asked == kind] if integration else []
    if given.get("method"):
        # One that is none here has its settings too: the estimator then says what is amiss.
        named: Any = METHODS.get(given["method"])
        methods = [] if named is None else [named]
    if "method" not in inspect.signature(estimator).parameters:
        methods = []
    shapes = not (methods and integration) or methods[0]().averages_shapes(integration)
    priors = [prior_class(prior, integration, shapes)] if isinstance(prior, str) else []
    return Parts(priors, methods)


def _family(name: str) -> Any:
    """Return a likelihood; None where the name is of none: the estimator then says what is amiss."""
    from garrote.likelihoods import as_likelihood

    try:
        return as_likelihood(name)
    except ValueError:
        return None


def _parts_of_path(estimator: Any, given: Mapping[str, Any]) -> Parts:
    """Return what may be set of the method of an estimator that fits a path."""
    way = getattr(estimator, "_method_class", None)
    known = {} if way is None else {None: way, **way.named()}
    return Parts([], [known[name] for name in [given.get("method")] if name in known])


def method_with_prior(name: str) -> str | None:
    """Return the method of the command line that has a prior."""
    from garrote.estimators.registry import SELECTORS
    from garrote.priors import PRIORS

    if name not in PRIORS:
        return None
    return next(
        (
            m
            for m, row in SELECTORS.items()
            if getattr(row.load(), "_kind", None) == PRIORS[name].kind
        ),
        None,
    )


def _refuse_other_kind(prior: Any, kind: str) -> None:
    """Refuse a name that no prior of this kind has; say which method has such a prior."""
    from garrote.priors import PRIORS

    if prior in PRIORS and PRIORS[prior].kind == kind:
        return
    known = ", ".join(name for name, known in PRIORS.items() if known.kind == kind)
    other = method_with_prior(str(prior))
    hint = f"; add --method {other}" if other else f"; known are {known}"
    raise UsageError(f"--set prior={prior}: there is no such prior here{hint}", "select")


def parameters_of(kind: Callable[..., Any]) -> list[str]:
    """Return the names of what a class takes, but for ``callback``, which cannot be typed."""
    return [name for name in inspect.signature(kind).parameters if name != "callback"]
