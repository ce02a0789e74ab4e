"""Several fillings of the gaps are pooled as the plain formulas say, whatever the method is."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.base import clone

import garrote
from garrote import (
    SingleEffectsRegressor,
    SparseRegressor,
    SpikeSlabClassifier,
    SpikeSlabRegressor,
    VariationalGarrote,
)
from garrote.impute import completed_tables, pool

N, D = 70, 5


@pytest.fixture(scope="module")
def gappy():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * [1, 1, 10, 1, 0.01] + [0, 5, 100, 0, 0]
    X[:, 3] = 0.8 * X[:, 1] + 0.4 * X[:, 3]
    y = 2 * X[:, 1] + rng.standard_normal(N)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X, y


def plain_pool(estimator, X, y, m, seed, **fit):
    """Pool by hand: fit each table, average, and add the variance between."""
    tables = completed_tables(X, y, m, random_state=seed)
    parts = [clone(estimator).fit(table, y, **fit).selection_ for table in tables]
    probability = sum(part.probability for part in parts) / m
    effects = [part.effect for part in parts]
    mean = sum(effects) / m
    within = sum(np.nan_to_num(part.standard_error) ** 2 for part in parts) / m
    between = sum((effect - mean) ** 2 for effect in effects) / (m - 1)
    total = within + (1 + 1 / m) * between
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (m - 1) * (1 + within / ((1 + 1 / m) * between)) ** 2
    reach = t.ppf(0.975, np.where(between > 0, freedom, np.inf)) * np.sqrt(total)
    return probability, mean, np.sqrt(total), mean - reach, mean + reach


@pytest.mark.parametrize(
    "estimator",
    [
        SpikeSlabRegressor(random_state=0),
        SingleEffectsRegressor(),
        VariationalGarrote(random_state=0),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_pooling_is_what_the_formulas_say(gappy, estimator, weighted):
    X, y = gappy
    fit = {"sample_weight": np.arange(N) % 3 + 1.0} if weighted else {}
    model = pool(estimator, X, y, n_imputations=3, random_state=4, **fit)
    probability, mean, error, lower, upper = plain_pool(estimator, X, y, 3, 4, **fit)
    found = model.selection_
    np.testing.assert_allclose(found.probability, probability, rtol=1e-12)
    np.testing.assert_allclose(model.coef_, mean, rtol=1e-12)
    stated = np.isfinite(found.standard_error)
    assert stated.any()
    np.testing.assert_allclose(found.standard_error[stated], error[stated], rtol=1e-9)
    np.testing.assert_allclose(found.lower[stated], lower[stated], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.upper[stated], upper[stated], rtol=1e-6, atol=1e-9)
    assert (found.selected == (probability > 0.5)).all()
    assert found.provenance["imputations"] == 3
    assert "effects and probabilities are pooled over 3 imputations" in found.rule
    assert found.rule.endswith("stand-ins and notes on the fit are of the first")
    assert "Rubin 1987" in found.intervals


def test_refits_of_all_fillings_are_counted_together(gappy):
    X, y = gappy
    found = pool(
        SingleEffectsRegressor(stability=4), X, y, n_imputations=2, random_state=0
    ).selection_
    tables = completed_tables(X, y, 2, random_state=0)
    parts = [SingleEffectsRegressor(stability=4).fit(table, y).selection_ for table in tables]
    assert found.stability.refits == 8
    assert found.stability.found.tolist() == sum(part.stability.found for part in parts).tolist()


def test_predictions_mix_those_of_all_fillings(gappy):
    X, y = gappy
    new = np.nan_to_num(X[:6], nan=1.0)
    model = pool(SpikeSlabRegressor(random_state=0), X, y, n_imputations=4, random_state=1)
    single = [
        SpikeSlabRegressor(random_state=0).fit(table, y)
        for table in completed_tables(X, y, 4, random_state=1)
    ]
    means = np.array([one.predict(new) for one in single])
    mean, deviation = model.predict(new, return_std=True)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-10)
    within = [one.posterior_.predictive_deviation(new, model._anchor) ** 2 for one in single]
    wanted = np.mean(within, axis=0) + 1.25 * means.var(axis=0, ddof=1)
    np.testing.assert_allclose(deviation**2, wanted, rtol=1e-8)


def test_draws_have_the_moments_of_the_mixture(gappy):
    X, y = gappy
    posterior = pool(
        SpikeSlabRegressor(random_state=0), X, y, n_imputations=3, random_state=2
    ).posterior_
    draws = posterior.sample(20_000, random_state=0)
    np.testing.assert_allclose(draws.mean(axis=0), posterior.mean, atol=0.03 * np.abs(draws).max())
    assert (draws != 0).mean(axis=0) == pytest.approx(posterior.inclusion_probability, abs=0.02)
    parts = posterior.law.posteriors
    between = np.var([p.mean[1] for p in parts])
    mixture = np.mean([p.variance[1] for p in parts]) + between
    assert draws[:, 1].var() == pytest.approx(mixture, rel=0.05)


def test_labels_and_counts_are_pooled_too(gappy, tmp_path):
    X, y = gappy
    labels = np.where(y > np.median(y), "well", "ill")
    model = pool(SpikeSlabClassifier(random_state=0), X, labels, n_imputations=2, random_state=3)
    tables = completed_tables(X, labels, 2, random_state=3)
    single = [SpikeSlabClassifier(random_state=0).fit(table, labels) for table in tables]
    new = np.nan_to_num(X[:5], nan=2.0)
    chances = np.mean([one.predict_proba(new) for one in single], axis=0)
    np.testing.assert_allclose(model.predict_proba(new), chances, rtol=1e-10)
    np.testing.assert_allclose(model.coef_, np.mean([one.coef_ for one in single], axis=0))
    model.save(tmp_path / "model.garrote")
    loaded = garrote.load(tmp_path / "model.garrote")
    assert (loaded.predict_proba(new) == model.predict_proba(new)).all()
    counts = np.round(np.exp((y - y.mean()) / 3))
    offset = np.full(N, 0.3)
    rates = pool(
        SpikeSlabRegressor(family="poisson", random_state=0), X, counts, n_imputations=2, random_state=3,
        offset=offset,
    )  # fmt: skip
    tables = completed_tables(X, counts, 2, random_state=3)
    single = [
        SpikeSlabRegressor(family="poisson", random_state=0).fit(table, counts, offset=offset)
        for table in tables
    ]
    known = np.full(5, 0.3)
    moments = [one.predict(new, return_std=True, offset=known) for one in single]
    mean, deviation = rates.predict(new, return_std=True, offset=known)
    np.testing.assert_allclose(mean, np.mean([m for m, _ in moments], axis=0), rtol=1e-10)
    spread = np.mean([s**2 for _, s in moments], axis=0)
    spread += 1.5 * np.var([m for m, _ in moments], axis=0, ddof=1)
    np.testing.assert_allclose(deviation**2, spread, rtol=1e-8)


def test_fillings_keep_what_is_known_depend_on_their_seed_and_use_the_response(gappy):
    X, y = gappy
    tables = list(completed_tables(X, y, 2, random_state=5))
    again = list(completed_tables(X, y, 4, random_state=5))
    for one, other in zip(tables, again, strict=False):
        assert np.array_equal(one, other)
    known = ~np.isnan(X)
    assert all(np.array_equal(table[known], X[known]) for table in tables)
    assert not np.array_equal(tables[0], tables[1])
    gaps = np.isnan(X[:, 1])
    drawn = np.mean([table[gaps, 1] for table in completed_tables(X, y, 4, random_state=0)], axis=0)
    assert np.corrcoef(drawn, y[gaps])[0, 1] > 0.8


def test_without_gaps_pooling_is_the_fit(gappy):
    X, y = gappy
    X = np.nan_to_num(X)
    pooled, fitted = (
        pool(SpikeSlabRegressor(random_state=0), X, y, random_state=0),
        SpikeSlabRegressor(random_state=0).fit(X, y),
    )
    np.testing.assert_allclose(pooled.coef_, fitted.coef_, rtol=1e-12)
    np.testing.assert_allclose(pooled.selection_.lower, fitted.selection_.lower, rtol=1e-6)


def test_a_data_frame_brings_its_names_and_wrong_input_is_refused(gappy):
    X, y = gappy
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = pool(
        SpikeSlabRegressor(random_state=0), frame, pd.Series(y), n_imputations=2, random_state=0
    )
    assert model.selection_.names == tuple("abcde")
    assert garrote.impute.pool is pool
    with pytest.raises(TypeError, match="SparseRegressor has no posterior to pool: take SpikeSlab"):
        pool(SparseRegressor(), X, y)
    with pytest.raises(ValueError, match="n_imputations must be an integer >= 2, got 1"):
        pool(SpikeSlabRegressor(random_state=0), X, y, n_imputations=1)
    with pytest.raises(ValueError, match=r"n_imputations must be an integer >= 2, got 2\.5"):
        pool(SpikeSlabRegressor(random_state=0), X, y, n_imputations=2.5)
    with pytest.raises(ValueError, match=r"X must have two dimensions, .* got shape \(70,\)"):
        pool(SpikeSlabRegressor(random_state=0), X[:, 0], y)
    with pytest.raises(ValueError, match="columns 0 of X have no value at all"):
        pool(SpikeSlabRegressor(random_state=0), np.column_stack([np.full(N, np.nan), X]), y)
    with pytest.raises(ValueError, match="must hold numbers, with NaN"):
        pool(SpikeSlabRegressor(random_state=0), frame.assign(a="word"), y)
    with pytest.raises(ValueError, match="y has no value in 1 row"):
        pool(SpikeSlabRegressor(random_state=0), X, np.where(np.arange(N) == 3, np.nan, y))


def test_a_column_as_response_and_the_missing_value_of_pandas_are_understood(gappy):
    X, y = gappy
    frame = pd.DataFrame(X, columns=list("abcde"))
    settings = {"n_imputations": 2, "random_state": 0}
    wanted = pool(SpikeSlabRegressor(random_state=0), X, y, **settings).coef_
    column = pool(SpikeSlabRegressor(random_state=0), X, y[:, None], **settings).coef_
    objects = frame.astype(object).where(frame.notna(), pd.NA)
    for other in (frame.astype("Float64"), objects):
        assert other.isna().to_numpy().sum() == np.isnan(X).sum()
        found = pool(SpikeSlabRegressor(random_state=0), other, y, **settings).coef_
        np.testing.assert_allclose(found, wanted, rtol=1e-10)  # frames are stored by columns
    np.testing.assert_array_equal(column, wanted)


@pytest.mark.slow
def test_intervals_cover_the_truth_when_values_are_missing_at_random():
    covered, total = 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((80, 4))
        X[:, 1] += X[:, 0]
        y = X @ [1.0, 1.0, 0.0, 0.0] + rng.standard_normal(80)
        gone = rng.random(80) < 1 / (1 + np.exp(-X[:, 0]))
        X[gone, 1] = np.nan
        found = pool(SpikeSlabRegressor(random_state=0), X, y, random_state=seed).selection_
        covered += int(np.sum((found.lower[:2] <= 1) & (found.upper[:2] >= 1)))
        total += 2
    assert 0.88 <= covered / total <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("other", [0.0, 2.0])
def test_least_squares_in_each_table_covers_an_effect_among_many_columns(other):
    covered, estimates, m = 0, [], 10
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 40))
        y = X[:, 0] + other * X[:, 1] + rng.standard_normal(200)
        X[rng.random(200) < 0.5, 0] = np.nan
        fits = [least_squares(table, y) for table in completed_tables(X, y, m, random_state=seed)]
        effects, variances = np.transpose(fits)
        inside, between = variances.mean(), (1 + 1 / m) * effects.var(ddof=1)
        freedom = (m - 1) * (1 + inside / between) ** 2
        reach = t.ppf(0.975, freedom) * np.sqrt(inside + between)
        covered += abs(effects.mean() - 1) < reach
        estimates.append(effects.mean())
    assert covered / 60 >= 0.88
    assert np.mean(estimates) == pytest.approx(1.0, abs=0.06)


def least_squares(X, y):
    """Return the coefficient of the first column, and its variance."""
    design = np.column_stack([X, np.ones(len(y))])
    inverse = np.linalg.inv(design.T @ design)
    left = y - design @ (inverse @ design.T @ y)
    return inverse[0] @ design.T @ y, inverse[0, 0] * (left @ left) / (len(y) - design.shape[1])


def test_sets_are_those_of_the_mixture():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6))
    X[:, 3] = X[:, 1] + 0.05 * rng.standard_normal(120)
    y = X[:, 1] + X[:, 0] + rng.standard_normal(120)
    X[rng.random(X.shape) < 0.05] = np.nan
    tables = completed_tables(X, y, 4, random_state=0)
    pooled = pool(SpikeSlabRegressor(), X, y, n_imputations=4, random_state=0)
    sets = {tuple(one.variables.tolist()): one for one in pooled.posterior_.credible_sets()}
    assert {tuple(sorted(members)) for members in sets} == {(0,), (1, 3)}
    (pair,) = [one for one in sets.values() if len(one) == 2]
    # The probability that one of both is in, model by model and filling by filling.
    covered, alike = [], []
    for table in tables:
        models = SpikeSlabRegressor().fit(table, y).posterior_.law.models
        inside = [bool({1, 3} & {*members.tolist()}) for members in models.members]
        covered.append(np.dot(models.probability, inside) / models.probability.sum())
        alike.append(np.corrcoef(table[:, 1], table[:, 3])[0, 1])
    assert pair.coverage == pytest.approx(np.mean(covered), abs=1e-3)
    assert pair.purity == pytest.approx(np.mean(alike), abs=1e-6)
    assert pooled.selection_.shared_sets
    assert pool(SingleEffectsRegressor(), X, y, n_imputations=2).selection_.credible_sets == ()
