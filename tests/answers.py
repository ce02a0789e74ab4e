"""Save what every estimator answers on a fixed set of problems, and compare two such files.

    python tests/answers.py save before.npz
    python tests/answers.py compare before.npz after.npz

A change that is to leave answers alone is made between the two. Each case is a fit by one combination of
method, family, penalty, design, weights, offset, covariates or z-scores; what is kept of it are its
coefficients, probabilities, errors, certificate, draws and predictions. `compare` lists every answer
that differs by more than 1e-10 (of its largest number, where that is above 1), and those that one file
lacks; a fit that fails has its message for an answer. Slabs are Gaussian, but for cases named by their
"shapes": these have the default, which averages over shapes of the slab.
"""

import argparse
import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

import garrote
from garrote.inference import EM, METHODS, Gibbs, MeanField, Sample
from garrote.knockoffs import KINDS
from garrote.likelihoods import Huber
from garrote.paths import Anneal, FollowPath
from garrote.penalties import MCP, PENALTIES, ElasticNet, FusedLasso, GroupLasso
from garrote.priors import EffectSlab, GaussianSlab, GPrior, GroupedInclusion, SingleEffects

TOLERANCE = 1e-10
GAUSSIAN, EFFECTS = GaussianSlab(), EffectSlab()

Answers = dict[str, np.ndarray]

# Parts of certificates by the names that files of answers have them by.
PARTS = {
    "duality gap": "gap", "violation": "kkt", "Monte Carlo error": "error", "error of a mean": "error",
    "between chains": "disagreement", "log probability": "log_probability", "found late": "late_share",
    "slab variance": "quadrature", "prior variance": "prior_variance", "lower bound": "bound",
    "falls of the bound": "fall",
}  # fmt: skip
# What is said of a part that a certificate of some kind does not have.
ABSENT = {
    "violation of optimality": {"gap": np.nan},
    "Monte Carlo error": {"split_r_hat": np.nan},
    "sum over all models": {"quadrature": 0.0},
    "search among models": {"quadrature": 0.0},
    "violation of equations": {"noise": 0.0},
}


class Table:
    """Rows of one made-up study: correlated columns, a near copy, a column of zeros and ones."""

    def __init__(self, seed: int = 7, n: int = 90, d: int = 12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        X[:, 1] = 0.8 * X[:, 0] + 0.6 * X[:, 1]
        X[:, 5] = X[:, 4] + 0.1 * X[:, 5]
        X[:, 7] = X[:, 7] > 0.5
        self.X = X * rng.uniform(0.5, 20, d) + rng.uniform(-5, 5, d)
        self.signal = 0.9 * X[:, 0] - 0.7 * X[:, 4] + 1.1 * X[:, 7]
        self.number = 3.0 + 2 * self.signal + rng.standard_normal(n)
        self.label = (self.signal + rng.logistic(size=n) > 0.3).astype(int)
        self.count = rng.poisson(np.exp(0.3 + 0.5 * self.signal)).astype(float)
        self.group = np.digitize(self.signal + 0.5 * rng.standard_normal(n), [-0.3, 0.9])
        self.pair = np.column_stack([self.number, self.signal + rng.standard_normal(n)])
        self.weight = rng.integers(1, 4, n).astype(float)
        self.offset = 0.3 * rng.standard_normal(n)
        zeroed = np.where(np.abs(X) > 0.9, X, 0.0)
        self.sparse = scipy.sparse.csc_array(zeroed)


def cases() -> Iterator[tuple[str, Callable[[], Answers]]]:
    """Yield a name and a fit for every combination."""
    table = Table()
    yield from _garrotes(table)
    yield from _posteriors(table)
    yield from _label_posteriors(table)
    yield from _shrinking(table)
    yield from _penalised(table)
    yield from _penalised_families(table)
    yield from _zscores(table)
    yield from _grouped(table)
    yield from _knockoffs(table)


def _fit(model: Any, X: Any, y: Any, **given: Any) -> Callable[[], Answers]:
    def answer() -> Answers:
        model.fit(X, y, **given)
        rows = X[:7]
        beside = {"offset": given["offset"][:7]} if "offset" in given else {}
        return {**_fitted(model), **_predicted(model, rows, beside)}

    return answer


def _garrotes(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    make: Any = partial(garrote.VariationalGarrote, correct=False)
    X, y = table.X, table.number
    for name, model, given in [
        ("defaults", make(), {}),
        ("free energy", make("free_energy"), {}),
        ("given gamma, starts", make(-2.0, method=Anneal(n_starts=3), random_state=0), {}),
        ("least error", make(rule="min"), {}),
        ("primal", make(method="primal"), {}),
        ("dual", make(method="dual"), {}),
        ("weights", make(), {"sample_weight": table.weight}),
        ("covariates", make(covariates=[2, 7]), {}),
        ("signs and odds", make(signs=np.ones(12, int), prior_log_odds=np.linspace(-1, 1, 12)), {}),
        ("known noise", make(noise_variance=1.0), {}),
        ("no intercept", make(fit_intercept=False), {}),
    ]:
        yield f"garrote, {name}", _fit(model, X, y, **given)
    yield "garrote, sparse", _fit(make(), table.sparse, y)
    yield "garrote, float32", _fit(make(), X.astype(np.float32), y)
    make = garrote.VariationalGarroteClassifier
    for name, model, given in [
        ("defaults", make(), {}),
        ("weights and offset", make(-2.0), {"sample_weight": table.weight, "offset": table.offset}),
        ("covariates", make(-2.0, covariates=[2]), {}),
    ]:
        yield f"garrote of labels, {name}", _fit(model, X, table.label, **given)


def _short(name: str) -> Any:
    """Return a method by its name, with short chains where it has any."""
    kind: Any = METHODS[name]
    short = {"n_steps": 400, "burn_in": 100}
    return kind(**{key: short[key] for key in kind().get_params() if key in short})


def _posteriors(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    def make(prior: Any = GAUSSIAN, method: str = "enumerate", **named: Any) -> Any:
        return garrote.SpikeSlabRegressor(prior, _short(method), random_state=0, **named)

    X, y = table.X, table.number
    slabs: list[tuple[str, Any]] = [
        ("spike-slab ", GaussianSlab()),
        ("spike-slab slab_variance=2.0", GaussianSlab(2.0)),
        ("spike-slab slab_variance=2.0 noise_variance=1.0", GaussianSlab(2.0, noise_variance=1.0)),
        ("g-prior g=90.0", GPrior(90.0)),
        ("g-prior g=hyper-g", GPrior("hyper-g")),
        ("g-prior g=hyper-g/n", GPrior("hyper-g/n")),
        ("g-prior g=eb", GPrior("eb")),
        ("bic ", "bic"),
    ]
    for method in ("enumerate", "sample", "metropolis", "gibbs", "search"):
        for name, prior in slabs:
            if method != "gibbs" or name.startswith("spike-slab"):
                yield f"{method}, {name}", _fit(make(prior, method), X, y)
    for method in ("enumerate", "sample", "mean-field"):
        yield f"{method}, weights", _fit(make(method=method), X, y, sample_weight=table.weight)
        yield f"{method}, covariates", _fit(make(method=method, covariates=[2, 7]), X, y)
        yield (
            f"{method}, odds",
            _fit(make(method=method, inclusion=0.2, prior_log_odds=np.linspace(-1, 1, 12)), X, y),
        )
        yield f"{method}, sparse", _fit(make(method=method), table.sparse, y)
    for method in ("enumerate", "sample", "metropolis", "gibbs", "mean-field"):
        few = {"covariates": [2], "prior_log_odds": np.linspace(-1, 1, 8)}
        model = make("spike-slab", method, **few)
        yield f"{method}, shapes", _fit(model, X[:, :8], y, sample_weight=table.weight)
    for how in ("average", "em", "anneal"):
        model = garrote.SpikeSlabRegressor(GAUSSIAN, MeanField(how), random_state=0)
        yield f"mean-field, {how}", _fit(model, X, y)
    for name, em in (("em", EM()), ("em, narrow spike", EM(spike_variance=0.01))):
        yield name, _fit(garrote.SpikeSlabRegressor(GAUSSIAN, em, random_state=0), X, y)
        if em.spike_variance:
            model = garrote.SpikeSlabRegressor(method=em, random_state=0)
            yield f"{name}, shapes", _fit(model, X, y)
    for told, prior, covariates in (
        ("", SingleEffects(), None),
        ("effects=4", SingleEffects(4), None),
        ("covariates=[2]", SingleEffects(), [2]),
        ("noise_variance=1.0", SingleEffects(noise_variance=1.0), None),
    ):
        model = garrote.SingleEffectsRegressor(prior, covariates=covariates)
        yield f"single effects {told}", _fit(model, X, y)
    for family, response in (("binomial", table.label), ("poisson", table.count)):
        for prior in ("bic", "spike-slab"):
            for method in ("enumerate", "metropolis"):
                yield (
                    f"{method}, {family}, {prior}",
                    _fit(
                        make(prior, method, family=family), X[:, :8], response, offset=table.offset
                    ),
                )


def _label_posteriors(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    def make(method: str, **named: Any) -> Any:
        if method == "single-effects":
            return garrote.SingleEffectsClassifier(**named)
        named = {"prior": EFFECTS, **named}
        return garrote.SpikeSlabClassifier(method=_short(method), random_state=0, **named)

    for method in ("sample", "mean-field", "single-effects", "enumerate", "metropolis"):
        for name, given in (
            ("plain", {}),
            ("weights", {"sample_weight": table.weight}),
            ("offset", {"offset": table.offset}),
        ):
            yield (
                f"labels, {method}, {name}",
                _fit(make(method), table.X[:, :8], table.label, **given),
            )
        yield (
            f"labels, {method}, covariates",
            _fit(make(method, covariates=[2]), table.X[:, :8], table.label),
        )
    model = make("sample", prior="spike-slab", covariates=[2])
    given = {"sample_weight": table.weight, "offset": table.offset}
    yield "labels, sample, shapes", _fit(model, table.X[:, :8], table.label, **given)


def _shrinking(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    short = Gibbs(n_steps=200, burn_in=50)
    for prior in (
        "laplace", "elastic-net", "fused-laplace", "horseshoe", "neg", "normal-gamma", "student", "hal",
    ):  # fmt: skip
        model = garrote.ShrinkageRegressor(prior, short, random_state=0)
        yield f"shrinks, {prior}", _fit(model, table.X, table.number)
    model = garrote.ShrinkageRegressor("horseshoe", short, random_state=0, covariates=[2])
    yield (
        "shrinks, horseshoe, weights, covariates",
        _fit(model, table.X, table.number, sample_weight=table.weight),
    )


def _penalised(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    make: Any = garrote.SparseRegressor
    X, y = table.X, table.number
    objects = {
        "elastic-net": ElasticNet(0.4),
        "mcp": MCP(2.0),
        "group-lasso": GroupLasso(np.repeat(np.arange(4), 3)),
        "fused-lasso": FusedLasso(),
    }
    for name in PENALTIES:
        penalty = objects.get(name, name)
        numbers = X[:, :3].sum(axis=1) if PENALTIES[name]().matches else y
        yield (
            f"penalty {name}",
            _fit(make(penalty, "bic", method=FollowPath(alphas=20)), X, numbers),
        )
        if name not in ("best-subset", "none", "basis-pursuit"):
            yield (
                f"penalty {name}, weights",
                _fit(
                    make(penalty, None, method=FollowPath(alphas=10)),
                    X,
                    y,
                    sample_weight=table.weight,
                ),
            )
    for name in ("lasso", "elastic-net", "mcp", "group-lasso"):
        yield (
            f"folds, {name}",
            _fit(make(objects.get(name, name), method=FollowPath(alphas=20)), X, y),
        )
        yield (
            f"folds, {name}, sparse",
            _fit(make(objects.get(name, name), method=FollowPath(alphas=20)), table.sparse, y),
        )
    for solver in (
        "homotopy", "least-angle", "ista", "fista", "sparsa", "projected_gradient", "em",
        "iterated_ridge", "subgradient",
    ):  # fmt: skip
        method = FollowPath(solver, alphas=10)
        yield f"lasso by {solver}", _fit(make("lasso", "bic", method=method), X, y)
    for name, named in [
        ("refitted", {"refit": True}),
        ("relaxed", {"refit": 0.5}),
        ("bounds", {"bounds": (-0.5, 0.5)}),
        ("factors", {"penalty_factor": np.linspace(0, 2, 12)}),
        ("one standard error", {"rule": "1se"}),
        ("plain columns", {"standardize": False, "fit_intercept": False}),
    ]:
        yield f"lasso, {name}", _fit(make(method=FollowPath(alphas=20), **named), X, y)


def _penalised_families(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    X = table.X
    group = GroupLasso(np.repeat(np.arange(4), 3))
    for family, y in [
        ("gaussian", table.number),
        ("binomial", table.label),
        ("probit", table.label),
        ("poisson", table.count),
        ("huber", table.number),
        (Huber(1.0), table.number),
    ]:
        for name, penalty in (("lasso", "lasso"), ("mcp", MCP(3.0)), ("groups", group)):
            model = garrote.SparseRegressor(
                penalty, "bic", family=family, method=FollowPath(alphas=12)
            )
            yield (
                f"{family}, {name}, weights, offset",
                _fit(model, X, y, sample_weight=table.weight, offset=table.offset),
            )
    for solver in ("coordinate", "fista", "ista", "sparsa"):
        model = garrote.SparseRegressor(
            "group-lasso", None, method=FollowPath(solver=solver, alphas=8)
        )
        yield f"two responses by {solver}", _fit(model, X, table.pair)
    for name, y in (("two classes", table.label), ("three classes", table.group)):
        for penalty in ("lasso", "elastic-net", "group-lasso"):
            model = garrote.SparseClassifier(penalty, method=FollowPath(alphas=12))
            yield f"{name}, {penalty}", _fit(model, X, y)
    yield (
        "three classes, sparse",
        _fit(garrote.SparseClassifier(method=FollowPath(alphas=12)), table.sparse, table.group),
    )


def _zscores(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    X = (table.X - table.X.mean(axis=0)) / table.X.std(axis=0)
    y = (table.number - table.number.mean()) / table.number.std()
    n = len(y)
    r = X.T @ y / n
    z = r * np.sqrt(n - 2) / np.sqrt(1 - r**2)
    ld = X.T @ X / n
    for name, model in [
        ("garrote", garrote.VariationalGarrote(correct=False)),
        ("enumerate", garrote.SpikeSlabRegressor(GAUSSIAN, "enumerate")),
        ("sample", garrote.SpikeSlabRegressor(GAUSSIAN, Sample(n_steps=400), random_state=0)),
        ("shapes", garrote.SpikeSlabRegressor(method=Sample(n_steps=400), random_state=0)),
        ("single effects", garrote.SingleEffectsRegressor()),
        ("lasso", garrote.SparseRegressor()),
    ]:
        for mismatch in (0.0, "estimate"):

            def answer(model: Any = model, mismatch: Any = mismatch) -> Answers:
                return _fitted(model.fit_zscores(z, ld, n, mismatch=mismatch))

            yield f"z-scores, {name}, mismatch {mismatch}", answer


def _grouped(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    law = GroupedInclusion([0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 5, 6])
    for covariates in (None, [3]):
        given = {"inclusion": law, "covariates": covariates}
        for method in ("enumerate", "sample", "metropolis"):
            for prior in (GAUSSIAN, "bic"):
                model = garrote.SpikeSlabRegressor(prior, _short(method), random_state=0, **given)
                name = f"groups, {method}, {prior}, covariates {covariates}"
                yield name, _fit(model, table.X, table.number, sample_weight=table.weight)
            labels = garrote.SpikeSlabClassifier(EFFECTS, _short(method), random_state=0, **given)
            name = f"groups of labels, {method}, covariates {covariates}"
            yield name, _fit(labels, table.X, table.label)
        for kind, y in (
            (garrote.VariationalGarrote, table.number),
            (garrote.VariationalGarroteClassifier, table.label),
            (garrote.SingleEffectsRegressor, table.number),
            (garrote.SingleEffectsClassifier, table.label),
        ):
            yield (
                f"groups, {kind.__name__}, covariates {covariates}",
                _fit(kind(**given), table.X, y),
            )


def _knockoffs(table: Table) -> Iterator[tuple[str, Callable[[], Answers]]]:
    for kind in KINDS:
        for statistic in ("lasso-difference", "signed-max"):

            def answer(kind: str = kind, statistic: str = statistic) -> Answers:
                model = garrote.Knockoffs(None, 0.5, statistic, knockoffs=kind, n_copies=2)
                model.fit(table.X, table.number)
                kept = ("statistics_", "thresholds_", "q_values_", "e_values_", "separations_")
                parts = {f"certificate {k}": v for k, v in model.certificate_.parts.items()}
                found = {name: getattr(model, name) for name in kept} | parts
                return {name: np.asarray(value) for name, value in found.items()}

            yield f"knockoffs, {kind}, {statistic}", answer


def _certified(certificate: Any) -> dict[str, float]:
    """Return the parts of a certificate by name."""
    parts = dict(certificate.parts)
    found = dict(ABSENT.get(certificate.kind, {}))
    if "halves of chains" in parts:
        found["split_r_hat"] = 1.0 + parts.pop("halves of chains")
    return found | {PARTS.get(name, name): value for name, value in parts.items()}


def _fitted(model: Any) -> Answers:
    """Return what a model states."""
    kept = (
        "coef_", "intercept_", "inclusion_probability_", "sign_probability_", "noise_variance_",
        "alpha_", "gamma_", "scale_",
    )  # fmt: skip
    answers = {name: np.asarray(getattr(model, name)) for name in kept if hasattr(model, name)}
    for name, value in _certified(model.certificate_).items():
        answers[f"certificate {name}"] = np.asarray(value)
    answers["selected"] = np.asarray(model.selection_.selected)
    posterior = getattr(model, "posterior_", None)
    if posterior is not None:
        for name in ("mean", "standard_error", "correlation", "log_evidence", "size_probability"):
            answers[name] = np.asarray(getattr(posterior, name))
        answers["draws"] = posterior.sample(20, random_state=1)
        sets = posterior.credible_sets()
        answers["sets"] = np.array([len(one.variables) for one in sets], dtype=float)
    return {
        name: values
        for name, values in answers.items()
        if values.dtype.kind in "bif" and values.size
    }


def _predicted(model: Any, rows: Any, beside: dict[str, Any]) -> Answers:
    """Return what a model makes of new rows."""
    answers = {"predict": np.asarray(model.predict(rows, **beside), dtype=float)}
    if hasattr(model, "predict_proba"):
        answers["predict_proba"] = model.predict_proba(rows, **beside)
    elif hasattr(model, "posterior_"):
        with contextlib.suppress(TypeError, ValueError):  # a family without one
            answers["deviation"] = model.predict(rows, return_std=True, **beside)[1]
    return answers


def save(path: str, wanted: str) -> None:
    """Answer every case whose name contains ``wanted``, and write all answers to one file."""
    kept: Answers = {}
    for name, answer in cases():
        if wanted not in name:
            continue
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = answer()
            except Exception as error:  # what fails today is an answer, too
                found = {f"failed: {type(error).__name__}: {error}": np.ones(1)}
        kept.update({f"{name} | {key}": values for key, values in found.items()})
        told = next((key for key in found if key.startswith("failed")), "")
        print(f"{time.process_time() - began:6.2f} s  {name}  {told}", file=sys.stderr)
    np.savez_compressed(path, **{key.replace("/", "\N{FRACTION SLASH}"): kept[key] for key in kept})


def compare(before: str, after: str) -> int:
    """Print what differs between two files; return how many answers do."""
    old, new = np.load(before), np.load(after)
    differing = 0
    for key in sorted(set(old.files) | set(new.files)):
        if key not in new.files or key not in old.files:
            said = "only before" if key in old.files else "only after"
        elif old[key].shape != new[key].shape:
            said = f"shape {old[key].shape} -> {new[key].shape}"
        else:
            a, b = old[key].astype(float), new[key].astype(float)
            both = np.isfinite(a) & np.isfinite(b)
            if not np.array_equal(np.isfinite(a), np.isfinite(b)):
                said = "finite in one only"
            else:
                unit = max(1.0, np.abs(a[both]).max(initial=0.0))
                off = np.abs(a - b)[both].max(initial=0.0) / unit
                if off <= TOLERANCE:
                    continue
                said = f"off by {off:.1e}"
        differing += 1
        print(f"{key}: {said}")
    print(f"{differing} of {len(set(old.files) | set(new.files))} answers differ")
    return differing


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    saving = commands.add_parser("save")
    saving.add_argument("path")
    saving.add_argument("--only", default="", help="cases whose name contains this")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before")
    comparing.add_argument("after")
    given = parser.parse_args()
    if given.command == "save":
        save(given.path, given.only)
    else:
        sys.exit(1 if compare(given.before, given.after) else 0)


if __name__ == "__main__":
    main()
