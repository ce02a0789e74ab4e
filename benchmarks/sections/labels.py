"""Labels of two classes: Bayesian selection beside the price of a cross-validated lasso.

The law of the data is that of the other sections, of whose response labels are the sign. On two tables
of gene expressions, read from the folder that GARROTE_DATA names, probabilities are judged on rows that
outer folds hold out, the same for all methods.
"""

import shutil
import time
import warnings

import numpy as np

import problems
from processes import Contender, say, take_turns
from sections.hard import mean_and_error
from tables import Table, spread

SIZES, QUICK_SIZES = ((200, 1000), (1000, 5000)), ((100, 300),)
# Rows, columns and classes.
CLASSES, QUICK_CLASSES = ((500, 50, 20), (1000, 100, 12)), ((200, 20, 4),)
EFFECTS, SIGNAL = 10, 1.5
STATES, QUICK_STATES = 1000, 100
FOLDS = 5
# scikit-learn solves every strength from nothing; at the larger size that takes many minutes.
SLOW_ENTRIES = 1_000_000
OURS = "garrote_labels"
LASSO, GLMNET = f"garrote, lasso, {FOLDS} folds", f"glmnet, lasso, {FOLDS} folds"
GENES = {"colon": "alon_colon_2000.npz", "leukemia": "leukemia_3571.npz"}
OUTER, REPETITIONS = 5, 2


def run(settings):
    tables, results = [], {}
    for rows, columns in QUICK_SIZES if settings.quick else SIZES:
        found = timing(settings, rows, columns)
        title = f"Labels: N = {rows}, D = {columns}, {EFFECTS} variables"
        tables.append(tabulate(title, found))
        results[f"{rows}, {columns}"] = found
    for shape in QUICK_CLASSES if settings.quick else CLASSES:
        table, results["{}, {}, {} classes".format(*shape)] = several_classes(settings, *shape)
        tables.append(table)
    for name, file in GENES.items():
        table, results[name] = held_out(name, file, settings.quick)
        tables += [table] if table else []
    return tables, results


def timing(settings, rows, columns):
    models, folds = {"estimator": "spike-slab"}, {"folds": FOLDS}
    states = QUICK_STATES if settings.quick else STATES
    sampled = models | {"method": "sample", "n_steps": states, "n_chains": 1}
    contenders = [
        Contender(LASSO, OURS, folds | {"estimator": "lasso"}),
        Contender(f"garrote, {states} states after 500", OURS, sampled, reps=1),
        Contender("garrote, mean field", OURS, models | {"method": "mean-field"}),
        Contender("garrote, single effects", OURS, {"estimator": "single-effects"}),
        Contender(f"Variational Garrote, {FOLDS} folds", OURS, folds | {"estimator": "garrote"}),
    ]
    if "glmnet" in settings.rivals:
        contenders.append(Contender(GLMNET, "glmnet", folds))
    if "scikit_learn" in settings.rivals and rows * columns <= SLOW_ENTRIES:
        contenders.append(
            Contender(f"scikit-learn, lasso, {FOLDS} folds", "scikit_learn", folds, reps=1)
        )
    numbers = problems.dense(rows, columns, settings.seed, k=EFFECTS, snr=SIGNAL)
    folder = problems.save(problems.labelled(numbers), settings.scratch / "labels")
    say(f"labels, {numbers.X.shape}")
    found = take_turns(settings, contenders, "label_cv", folder)
    shutil.rmtree(folder)
    return found


def several_classes(settings, rows, columns, classes):
    """Race the cross-validated lassos of more than two classes."""
    folds = {"folds": FOLDS}
    contenders = [Contender(LASSO, OURS, folds | {"estimator": "lasso"})]
    if "glmnet" in settings.rivals:
        contenders.append(Contender(GLMNET, "glmnet", folds))
    problem = problems.classified(rows, columns, classes, settings.seed)
    folder = problems.save(problem, settings.scratch / "classes")
    say(f"labels, {problem.X.shape}, {classes} classes")
    found = take_turns(settings, contenders, "class_cv", folder)
    shutil.rmtree(folder)
    return tabulate(f"Labels: N = {rows}, D = {columns}, {classes} classes", found), found


def tabulate(title, found):
    headings = ["method", "seconds", "of processor", "over our lasso", "over glmnet's"]
    table = Table(title, [*headings, "draws a second", "selected", "F1"])
    # By processor time, which other work on the machine disturbs less than the clock.
    ours = found[LASSO].get("processor") or np.nan
    theirs = found.get(GLMNET, {}).get("processor") or np.nan
    for label, result in found.items():
        if "skipped" in result:
            table.add(label, result["skipped"], *[None] * 6)
            continue
        seconds, draws = result["seconds"], result.get("draws")
        processor = result["processor"]
        rate = None if draws is None else draws / seconds
        table.add(
            label, spread(result["all_seconds"]), processor, processor / ours, processor / theirs,
            rate, result["selected"], result["f1"],
        )  # fmt: skip
    return table


def held_out(name, file, quick):
    """Judge probabilities on outer folds of a real table."""
    from garrote.experiments.data import find

    try:
        path = find(file)
    except FileNotFoundError:
        say(f"labels: {file} is not in the folder that GARROTE_DATA names, and left out")
        return None, {"skipped": f"no {file}"}
    with np.load(path, allow_pickle=False) as stored:
        X = np.asfortranarray(stored["X"], dtype=np.float64)
        y = np.unique(stored["y"], return_inverse=True)[1]
    X = X[:, :300] if quick else X
    judged = {label: [] for label in methods()}
    for train, test in outer_folds(X, y, 1 if quick else REPETITIONS):
        say(f"labels, {name}: {len(train)} rows")
        for label, make in methods().items():
            judged[label].append(judge(make(), X, y, train, test))
    headings = ["method", "deviance", "accuracy", "selected", "processor, s"]
    title = f"Labels: {name}, {X.shape[0]} x {X.shape[1]}, {OUTER} outer folds"
    table = Table(title, headings)
    for label, rows in judged.items():
        deviance, right, selected, seconds = np.array(rows).T
        table.add(
            label, mean_and_error(deviance), right.mean(), selected.mean(), np.median(seconds)
        )
    return table, judged


def methods():
    from sklearn.dummy import DummyClassifier

    from garrote import (
        SingleEffectsClassifier,
        SparseClassifier,
        SpikeSlabClassifier,
        VariationalGarroteClassifier,
    )

    return {
        "Variational Garrote": VariationalGarroteClassifier,
        "lasso, cross-validated": lambda: SparseClassifier(alpha="cv"),
        "mean field": lambda: SpikeSlabClassifier(method="mean-field"),
        "single effects": SingleEffectsClassifier,
        "shares of the classes": lambda: DummyClassifier(strategy="prior"),
    }


def outer_folds(X, y, repetitions):
    from sklearn.model_selection import StratifiedKFold

    for seed in range(repetitions):
        yield from StratifiedKFold(OUTER, shuffle=True, random_state=seed).split(X, y)


def judge(model, X, y, train, test):
    """Return held-out deviance and accuracy, the number of variables selected, and seconds."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X[train], y[train])
    seconds = time.process_time() - start
    p = model.predict_proba(X[test])[np.arange(len(test)), y[test]]
    selected = model.get_support().sum() if hasattr(model, "get_support") else 0
    deviance = -2.0 * np.log(np.maximum(p, 1e-15)).mean()
    return float(deviance), float(np.mean(p > 0.5)), int(selected), seconds
