"""Several responses at once: regressors by a posterior whose y is a matrix, a column for each."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import r2_score

from garrote.arrays import Floats
from garrote.estimators.families.survival import is_of_times
from garrote.estimators.given.arguments import Arguments
from garrote.estimators.given.inputs import check_offset, check_rows
from garrote.estimators.given.rows import GivenRows
from garrote.estimators.registry import title_of
from garrote.estimators.shared.posterior_settings import make_inclusion
from garrote.inference import as_method
from garrote.inference.annotated.learning import learn_enrichment
from garrote.inference.responses.joint_effects import joint_single_effects
from garrote.inference.responses.joint_models import JointInferred, joint_models
from garrote.inference.responses.joint_problem import JointProblem, as_sets
from garrote.inference.task import Inferred
from garrote.likelihoods import Gaussian
from garrote.likelihoods.several import SeveralResponses
from garrote.priors import GaussianSlab
from garrote.priors.structured.annotations import AnnotatedOdds
from garrote.problem import Problem, as_design
from garrote.results.laws import Anchor
from garrote.results.selections.selection import Selection
from garrote.results.selections.views import ClassEffects
from garrote.selecting.averaged import select_averaged

# Where the prior is named, what the name stands for.
_REFERENCES = {
    "models": "Brown, Vannucci & Fearn (1998), Multivariate Bayesian variable selection and prediction",
    "effects": "Zou et al. (2023), Fast and flexible joint fine-mapping of multiple traits",
}


def is_several(model: Any, y: Any) -> bool:
    """Tell whether a regressor that can is given a matrix of responses."""
    if getattr(model, "_kind", None) not in _REFERENCES or is_of_times(model):
        return False  # times until an event have two columns
    return is_matrix(y)


def is_matrix(y: Any) -> bool:
    """Tell whether y has several columns."""
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def fit_several(model: Any, rows: Arguments, seed: Any) -> tuple[Selection, ...]:
    """Fit all responses at once, and set the fitted attributes; return a selection for each."""
    if not isinstance(model._likelihood, Gaussian):
        count = np.asarray(rows.y).shape[1]
        raise ValueError(
            f"y has {count} columns, which family={model.family!r} cannot take: fit one at a time, or "
            "take family='gaussian'"
        )
    names = response_names(rows.y)
    Y = check_rows(model, rows.X, rows.y, several=True)[1]
    shift = check_offset(rows.offset, len(Y), SeveralResponses(Y.shape[1]))
    first = rows._replace(y=Y[:, 0], offset=None if shift is None else shift[:, 0])
    given = GivenRows.of(model, first)
    law = model._law(given.count, given.names, given.X)
    design = as_design(given.X)
    problems = tuple(
        Problem.from_rows(
            design, Y[:, k], given.weights, likelihood=given.likelihood,
            offset=None if shift is None else shift[:, k], covariates=given.covariates,
            fit_intercept=model.fit_intercept, standardize=model.standardize,
        )
        for k in range(Y.shape[1])
    )  # fmt: skip
    joint = JointProblem.of((problems[0].with_known_gram(), *problems[1:]), names)
    made = make_inclusion(law, problems[0], given.log_odds)
    found = _infer(model, joint, made, given.column_names, seed)
    _store(model, joint, found)
    each = []
    for k, problem in enumerate(problems):
        one = replace(given, y=Y[:, k], response=names[k])
        origin = one.origin(model, problem, _REFERENCES[model._kind])
        each.append(
            select_averaged(
                problem, found.posterior.responses[k], found.certificate, origin,
                method=title_of(type(model)), how=found.how,
                intercept=float(model.intercept_[k]), converged=True, notes=found.notes,
            )
        )  # fmt: skip
    return tuple(each)


def _infer(
    model: Any, joint: JointProblem, made: Any, names: tuple[str, ...], seed: Any
) -> JointInferred:
    """Find the joint posterior; enrichments are learned where the law has them."""
    count = joint.first.n_features
    if model._kind == "effects":
        prior = model._prior()

        def find(law: Any) -> JointInferred:
            return joint_single_effects(joint, prior, as_sets(law, joint.usable, count), names)

    else:
        given = model.prior
        slab = GaussianSlab() if isinstance(given, str) and given == "spike-slab" else given
        method = as_method(model.method)

        def find(law: Any) -> JointInferred:
            sets = as_sets(law, joint.usable, count)
            return joint_models(joint, slab, sets, method, names, seed, model.n_jobs)

    if not isinstance(made, AnnotatedOdds):
        return find(made)
    return _learned(made, joint, find)


def _learned(odds: AnnotatedOdds, joint: JointProblem, find: Any) -> JointInferred:
    """Learn enrichments by the sets that all responses share: those of the first have them."""
    last: list[JointInferred] = []

    def of_first(odds: AnnotatedOdds) -> Inferred:
        last[:] = [find(odds.known())]
        found = last[0]
        return Inferred(found.posterior.responses[0], found.certificate, found.method, found.how)

    inferred = learn_enrichment(odds, joint.usable, of_first, 0)
    posterior = replace(last[0].posterior, enrichment=inferred.posterior.enrichment)
    return replace(last[0], posterior=posterior, how=inferred.how, notes=inferred.notes)


def _store(model: Any, joint: JointProblem, found: JointInferred) -> None:
    posterior = found.posterior
    model.posterior_ = posterior
    model.method_, model.certificate_ = found.method, found.certificate
    model.inclusion_probability_ = posterior.inclusion_probability
    model.coef_ = posterior.mean
    scale = joint.first.scale
    means = np.array([problem.scale.response_mean for problem in joint.problems])
    model.intercept_ = (
        means - posterior.mean @ scale.column_mean if model.fit_intercept else np.zeros(len(means))
    )
    model.noise_covariance_ = posterior.noise_covariance
    model.noise_variance_ = np.diag(posterior.noise_covariance).copy()
    model._anchor = Anchor(scale.column_mean, 1.0 / joint.first.n if model.fit_intercept else 0.0)


def combined(selections: tuple[Selection, ...], coef: Floats, names: tuple[str, ...]) -> Selection:
    """Return one selection of all responses: each variable by the response it matters most to."""
    effects = ClassEffects("response", names, coef)
    strongest, D = effects.strongest, coef.shape[1]

    def of_strongest(name: str) -> Floats:
        rows = np.array([getattr(one, name) for one in selections])
        return np.asarray(rows[strongest, np.arange(D)])

    return replace(
        selections[0],
        response=", ".join(names),
        effect=effects.largest,
        standard_error=of_strongest("standard_error"),
        lower=of_strongest("lower"),
        upper=of_strongest("upper"),
        intervals=f"effects are those on the response that a variable matters most to; "
        f"{selections[0].intervals}",
        noise_variance=float("nan"),
        by_class=effects,
        predictions=None,
        models=None,
        marginal_z=None,
    )


def predict_several(model: Any, X: Any, return_std: bool, offset: Any) -> Any:
    """Return predictions (N x K) and on request their standard deviations."""
    mean = np.asarray(X @ model.coef_.T + model.intercept_)
    known = check_offset(offset, X.shape[0], SeveralResponses(len(model.coef_)))
    mean = mean if known is None else mean + known
    if not return_std:
        return mean
    spread = [one.predictive_deviation(X, model._anchor) for one in model.posterior_.responses]
    return mean, np.column_stack(spread)


def score_several(model: Any, X: Any, y: Any, sample_weight: Any, offset: Any) -> float:
    """Return the mean R^2 over responses, of what an offset leaves of them."""
    mean, y = model.predict(X, offset=offset), np.asarray(y, dtype=np.float64)
    known = check_offset(offset, len(mean), SeveralResponses(len(model.coef_)))
    taken = 0.0 if known is None else known
    return float(r2_score(y - taken, mean - taken, sample_weight=sample_weight))


def response_names(y: Any) -> tuple[str, ...]:
    """Return the names of the responses: those of a data frame's columns, or y0, y1, ..."""
    columns = getattr(y, "columns", None)
    if columns is not None:
        return tuple(str(name) for name in columns)
    return tuple(f"y{k}" for k in range(np.asarray(y).shape[1]))
