"""Enrichment of annotations: its mode and intervals, by sums over all sets, and beside the truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from garrote import Problem, SingleEffectsRegressor, SpikeSlabRegressor, load
from garrote.inference import Metropolis, Sample, infer
from garrote.priors import AnnotatedInclusion, EffectSlab, GaussianSlab
from structured_laws import OFFSETS, D, log_evidences, sets, table

FEATURES = np.column_stack([[1, 1, 0, 0, 0, 1, 0, 0], [0.3, -1.0, 2.0, 0.1, -0.4, 1.4, -0.9, 0.2]])
BASE = (1.0, 3.0)


def log_posterior(at, X, y, offsets):
    """Return the log posterior density of a and b, by summing over all sets of variables."""
    inside, f = sets(), FEATURES[:, 1]
    features = np.column_stack([np.ones(D), FEATURES[:, 0], (f - f.mean()) / f.std()])
    log_odds = features @ at + offsets
    logs = inside @ log_odds - np.logaddexp(0, log_odds).sum() + log_evidences(X, y, 1.0, inside)
    p = expit(at[0])
    prior = BASE[0] * np.log(p) + BASE[1] * np.log1p(-p) - 0.5 * np.sum((at[1:] / 2.0) ** 2)
    return np.logaddexp.reduce(logs) + prior


@pytest.fixture(scope="module")
def exact():
    """The mode, and 95 % intervals of b by quadrature over a grid."""
    X, y = table(3)
    best = minimize(lambda at: -log_posterior(at, X, y, OFFSETS), np.zeros(3), tol=1e-10).x
    axes = [np.linspace(c - w, c + w, 19) for c, w in zip(best, (5, 6, 6), strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    logs = np.array([log_posterior(at, X, y, OFFSETS) for at in grid])
    share = np.exp(logs - logs.max()).reshape(19, 19, 19)
    share /= share.sum()
    intervals = []
    for axis, others in ((1, (0, 2)), (2, (0, 1))):
        below = np.append(0.0, np.cumsum(share.sum(axis=others)))
        half = 0.5 * (axes[axis][1] - axes[axis][0])
        edges = np.append(axes[axis] - half, axes[axis][-1] + half)
        intervals.append(np.interp([0.025, 0.975], below, edges))
    return best, np.array(intervals)


def law(**settings):
    return AnnotatedInclusion(FEATURES, base=BASE, **settings)


def test_the_mode_and_intervals_are_those_of_sums_over_all_sets(exact):
    X, y = table(3)
    made = law().over(np.arange(D), D, OFFSETS)
    found = infer(Problem.from_rows(X, y), GaussianSlab(1.0), "enumerate", inclusion=made)
    learned = found.posterior.enrichment
    unit = np.array([1.0, FEATURES[:, 1].std()])
    np.testing.assert_allclose(learned.estimate * unit, exact[0][1:], atol=0.03)
    low, high = exact[1].T
    np.testing.assert_allclose(learned.lower * unit, low, atol=0.35)
    np.testing.assert_allclose(learned.upper * unit, high, atol=0.35)
    assert learned.off < 0.02
    # Inclusion probabilities are those of the odds that were learned.
    inside = sets()
    log_odds = OFFSETS + learned.base + FEATURES @ learned.estimate
    logs = inside @ log_odds + log_evidences(X, y, 1.0, inside)
    share = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(found.posterior.inclusion_probability, share @ inside, rtol=1e-6)
    assert "annotation 0 +" in found.how


@pytest.mark.parametrize("method", [Sample(4000), Metropolis(8000), "mean-field", "search"])
def test_other_methods_find_about_the_same_mode(method, exact):
    X, y = table(3)
    made = law().over(np.arange(D), D, OFFSETS)
    found = infer(
        Problem.from_rows(X, y), GaussianSlab(1.0), method, inclusion=made, random_state=0
    )
    unit = np.array([1.0, FEATURES[:, 1].std()])
    far = 0.5 if method == "mean-field" else 0.15
    np.testing.assert_allclose(found.posterior.enrichment.estimate * unit, exact[0][1:], atol=far)


def test_labels_counts_and_single_effects_have_enrichments():
    X, y = table(4, 120)
    effects = SingleEffectsRegressor(inclusion=AnnotatedInclusion(FEATURES)).fit(X, y)
    assert effects.posterior_.enrichment.estimate[0] > 0
    settings = {"inclusion": law(), "method": "enumerate"}
    counts = np.random.default_rng(0).poisson(np.exp(0.4 * y))
    for family, response in (("binomial", (y > 0) * 1.0), ("poisson", counts)):
        model = SpikeSlabRegressor(EffectSlab(1.0), family=family, **settings).fit(X, response)
        assert model.posterior_.enrichment.estimate[0] > 0


def test_the_odds_of_single_effects_are_those_learned():
    X, y = table(4, 120)
    found = SingleEffectsRegressor(inclusion=AnnotatedInclusion(FEATURES)).fit(X, y)
    log_odds = FEATURES @ found.posterior_.enrichment.estimate
    known = SingleEffectsRegressor(prior_log_odds=log_odds).fit(X, y)
    np.testing.assert_allclose(
        found.inclusion_probability_, known.inclusion_probability_, atol=1e-3
    )


def test_names_order_files_and_tables(tmp_path):
    X, y = table(3)
    names = list("abcdefgh")
    rows = pd.DataFrame(FEATURES, index=names, columns=["coding", "depth"]).sample(
        frac=1, random_state=0
    )
    frame = pd.DataFrame(X, columns=names)
    model = SpikeSlabRegressor(GaussianSlab(1.0), inclusion=AnnotatedInclusion(rows)).fit(frame, y)
    same = SpikeSlabRegressor(GaussianSlab(1.0), inclusion=AnnotatedInclusion(FEATURES)).fit(X, y)
    np.testing.assert_allclose(model.inclusion_probability_, same.inclusion_probability_, rtol=1e-9)
    assert "coding +" in model.selection_.rule
    model.save(tmp_path / "model.garrote")
    again = load(tmp_path / "model.garrote")
    np.testing.assert_array_equal(
        again.posterior_.enrichment.estimate, model.posterior_.enrichment.estimate
    )
    shown = model.posterior_.enrichment.table()
    assert shown.columns["annotation"] == ["coding", "depth"]
    assert "coding" in str(shown)


REFUSED = {
    "has no row for 'h'": pd.DataFrame(FEATURES[:7], index=list("abcdefg")),
    "annotates 'z'": pd.DataFrame(np.vstack([FEATURES, FEATURES[:1]]), index=list("abcdefghz")),
    "is 1 for every variable": np.ones(D),
    "is a combination of those before it": np.column_stack([FEATURES, FEATURES @ [1.0, -2.0]]),
    "is missing or infinite": np.where(FEATURES == 2.0, np.nan, FEATURES),
    "has 5 rows for 8 columns": FEATURES[:5],
    "must be numbers or truth values": np.array(list("abcdefgh"), dtype=object),
    "twice: give one row each": pd.DataFrame(FEATURES, index=list("abcdefgg")),
}


@pytest.mark.parametrize("said", REFUSED)
def test_annotations_that_tell_nothing_are_refused(said):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    with pytest.raises(ValueError, match=said):
        SpikeSlabRegressor(inclusion=AnnotatedInclusion(REFUSED[said])).fit(frame, y)


@pytest.mark.slow
def test_intervals_cover_the_truth():
    hits, off = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, coding = rng.standard_normal((400, 120)), 1.0 * (rng.random(120) < 0.3)
        inside = rng.random(120) < expit(-2.8 + 1.5 * coding)
        y = X @ (inside * rng.normal(0, 0.4, 120)) + rng.standard_normal(400)
        model = SpikeSlabRegressor(
            GaussianSlab(0.16), "mean-field", inclusion=AnnotatedInclusion(coding), random_state=0
        ).fit(X, y)
        found = model.posterior_.enrichment
        hits.append(found.lower[0] <= 1.5 <= found.upper[0])
        off.append(found.estimate[0] - 1.5)
    assert np.mean(hits) > 0.88
    assert abs(np.mean(off)) < 0.4
