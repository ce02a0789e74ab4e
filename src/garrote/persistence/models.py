"""Fitted estimators in files: `save_model`, `load`, and a caller's own notes beside them."""

import json
import warnings
from dataclasses import is_dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

import garrote
import garrote.greedy
import garrote.knockoffs
import garrote.likelihoods
import garrote.paths
import garrote.penalties
import garrote.priors
from garrote.designs.scale import Scale
from garrote.inference.methods import METHODS
from garrote.likelihoods.survival.baseline import Baseline
from garrote.persistence.archive import (
    Archive,
    ModelFileError,
    PathLike,
    explain,
    open_archive,
    show,
    write_archive,
)
from garrote.persistence.checks import check_estimator
from garrote.persistence.trees import Decoder, Encoder, Unknown, Unstorable
from garrote.persistence.trial import try_answers
from garrote.proximal.graph import Graph
from garrote.results.accuracy import Audit, SamplingAccuracy
from garrote.results.certificates import Certificate
from garrote.results.credible_sets import CredibleSet, Inclusions, Likeness, Substitutes
from garrote.results.enrichment import Enrichment
from garrote.results.error_control import ErrorControl
from garrote.results.fit import Fit, PenaltyFit
from garrote.results.joint import JointPosterior
from garrote.results.laws import (
    Anchor,
    CovariatesLaw,
    Draws,
    EffectsLaw,
    FactorisedPredictor,
    Intercepts,
    JointGaussian,
    Mixture,
    Models,
    Pooled,
    SoftSupport,
    Spread,
    States,
)
from garrote.results.optima import Optima
from garrote.results.path import Move, Path
from garrote.results.posterior import Posterior
from garrote.results.selections.curves import Curve
from garrote.results.selections.data_check import DataCheck, Finding
from garrote.results.selections.groups import VariableGroups
from garrote.results.selections.held_out import LabelScores, PredictiveDensity
from garrote.results.selections.locus import Placed
from garrote.results.selections.selection import Selection
from garrote.results.selections.stability import Stability
from garrote.results.selections.views import (
    ClassEffects,
    ModelsView,
    PathView,
    Predictions,
    StandIns,
    Validation,
)
from garrote.results.shapes import SlabShapes
from garrote.selecting.control.frequencies import Frequencies
from garrote.summaries import Summary, Table
from garrote.zscores.consistency import Consistency

FORMAT = "garrote-model"
# Raised when a file cannot be read any more by the garrote before; older formats stay readable, but for
# the first, which no release wrote.
VERSION, _OLDEST = 2, 2

# The results that files may hold, beside estimators, methods, and the public penalties, likelihoods and
# priors. A class that an estimator comes to store is a new entry here.
_RESULTS = (
    Anchor, Audit, Baseline, Certificate, ClassEffects, Consistency, CovariatesLaw, CredibleSet,
    Curve, DataCheck, Draws, EffectsLaw, Enrichment, ErrorControl, FactorisedPredictor, Finding,
    Fit, Frequencies, Graph, Inclusions, Intercepts, JointGaussian, JointPosterior, LabelScores,
    Likeness, Mixture, Models, ModelsView, Move, Optima, Path, PathView, PenaltyFit, Placed, Pooled,
    Posterior, Predictions, PredictiveDensity, SamplingAccuracy, Scale, Selection, SlabShapes,
    SoftSupport, Spread, Stability, StandIns, States, Substitutes, Summary, Table, Validation,
    VariableGroups,
)  # fmt: skip


def save_model(model: Any, path: PathLike, extra: dict[str, Any] | None = None) -> None:
    """Write a fitted estimator to one file, whole or not at all.

    A parameter that is no plain value (a splitter given as ``cv``, a RandomState, a callback) is left
    out, with a note in the file; `load` tells. A penalty, prior, likelihood or method of a class that is
    not garrote's is refused: the file could not bring the class along.

    Parameters
    ----------
    model : estimator of garrote
    path : str or path
        Replaced if it exists. The suffix ``.garrote`` is customary.
    extra : dict of JSON values, optional
        Notes of the caller, which `load_extra` returns.
    """
    estimators = _estimators()
    name = type(model).__name__
    if estimators.get(name) is not type(model):
        raise TypeError(
            f"a {name} cannot be saved, only {', '.join(sorted(estimators))} can: use joblib.dump"
        )
    check_is_fitted(model)
    encoder = Encoder(_known_classes())
    try:
        check_estimator(model)
        encoder.encode(model, name)
    except (Unstorable, ModelFileError) as error:
        raise TypeError(
            f"cannot save this {name}: {error}, for which these files have no place; joblib.dump keeps "
            "it, and needs its class to be importable where it is loaded"
        ) from error
    header = {
        "format": FORMAT,
        "version": VERSION,
        "garrote": garrote.__version__,
        "estimator": name,
        "extra": _json_values(extra or {}),
        "texts": encoder.texts,
        "objects": encoder.objects,
    }
    write_archive(path, header, encoder.arrays)


def load(path: PathLike) -> Any:
    """Return the fitted estimator that a file holds; nothing in the file is executed.

    It predicts bit for bit what the saved one does. Parameters that could not be stored have their
    default, which a warning says; they matter only if it is fitted again.

    Parameters
    ----------
    path : str or path
        A file written by ``save``, by this version of garrote or an older one.

    Examples
    --------
    >>> import garrote
    >>> from garrote.datasets import make_sparse_regression
    >>> data = make_sparse_regression(n_samples=80, n_features=20, n_informative=2, random_state=0)
    >>> model = garrote.VariationalGarrote().fit(data.X, data.y)
    >>> model.save("model.garrote")
    >>> bool((garrote.load("model.garrote").coef_ == model.coef_).all())
    True
    """
    with open_archive(path) as archive:
        header = _header(archive, path)
        decoder = Decoder(_known_classes(), archive.array, header["texts"])
        try:
            for written in header["objects"]:
                decoder.add(written)
        except Unknown as error:
            raise _too_new(path, header, str(error)) from error
        model = decoder.objects[-1]
        if type(model).__name__ != header["estimator"]:
            raise ModelFileError("its last object is not the model")
        check_is_fitted(model)
        check_estimator(model)
        try_answers(model)
        archive.check_header()
    _warn_of_defaults(decoder.left_out, path)
    return model


load_model = load


def load_extra(path: PathLike) -> dict[str, Any]:
    """Return the notes that a file holds beside its model; empty if there are none."""
    with open_archive(path) as archive:
        extra = dict(_header(archive, path)["extra"])
        archive.check_header()
        return extra


def _header(archive: Archive, path: PathLike) -> dict[str, Any]:
    """Return the header of a file in a format and of a class that this garrote knows."""
    header = archive.header()
    if header.get("format") != FORMAT:
        raise explain(path, "is a zip, but not a garrote model; give a file written by `save`")
    version = header["version"]
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its format is {str(version)[:60]!r}")
    if version < _OLDEST:
        raise explain(path, f"is of format {version}, which no release has written: fit again")
    if version > VERSION:
        raise _too_new(path, header, f"format {version}")
    if header["estimator"] not in _estimators():
        raise _too_new(path, header, f"a {str(header['estimator'])[:60]!r}")
    return header


def _too_new(path: PathLike, header: dict[str, Any], what: str) -> ModelFileError:
    return explain(
        path,
        f"was written by garrote {str(header['garrote'])[:60]} and has {what}, which this garrote "
        f"{garrote.__version__} (format {VERSION}) cannot read: run `pip install --upgrade garrote`, "
        "or fit again if the file is the older of the two",
    )


def _estimators() -> dict[str, type]:
    """Return all public estimators, and transformers into codes, by name."""
    # Upwards, and only when called: the classes that may be made are those listed there.
    from garrote import coding, estimators

    return {name: getattr(estimators, name) for name in estimators.__all__} | coding.TRANSFORMERS


def _known_classes() -> dict[str, type]:
    """Return every class that files may refer to: also penalties, priors, searches and results."""
    from garrote import coding

    results = {cls.__name__: cls for cls in (*_RESULTS, *METHODS.values())}
    public = {
        name: cls
        for room in (
            garrote.penalties,
            garrote.likelihoods,
            garrote.priors,
            garrote.paths,
            garrote.greedy,
            coding,
            garrote.knockoffs,
        )
        for name, cls in vars(room).items()
        if name in room.__all__ and _is_class_of_values(cls)
    }
    return results | public | _estimators()


def _is_class_of_values(found: Any) -> bool:
    return isinstance(found, type) and (is_dataclass(found) or issubclass(found, tuple))


def _json_values(extra: dict[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads(json.dumps(extra, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise TypeError(f"extra must consist of JSON values: {error}") from error
    if found != extra:
        raise TypeError("extra must consist of JSON values: lists, and dicts whose keys are str")
    return found


def _warn_of_defaults(left_out: dict[str, dict[str, str]], path: PathLike) -> None:
    said = [
        f"{name}={' '.join(str(text).split())[:200]}"
        for settings in left_out.values()
        for name, text in settings.items()
    ]
    if said:
        warnings.warn(
            f"{show(path)} could not hold {', '.join(said)}: the default is set instead; predictions "
            "are the same, set it again before fitting",
            UserWarning,
            stacklevel=3,
        )
