"""Support vector machines beside libsvm and liblinear: two normal laws, real tables, many rows.

Of each task all libraries take turns in one process, on one thread; seconds are the least of the
processor's over all turns. Objectives, w'w + C sum of hinges, are computed here, from what each machine
says of its rows and its own coefficients.
"""

import os

from processes import run_program, say
from sections.greedy import COMMON
from tables import Table

MACHINES = """
from sklearn.svm import SVC, LinearSVC
from garrote import SmoothSVC

def objective(model, X, y, C):
    f = model.decision_function(X)
    if getattr(model, "coef_", None) is not None and model.__class__ is not SVC:
        norm = np.sum(model.coef_**2)
    else:
        rows = model.support_ if isinstance(model, SVC) else model.basis_
        norm = model.dual_coef_[0] @ (f - model.intercept_)[rows]
    return float(norm + C * np.maximum(1 - y * f, 0).sum())
"""
LAWS = """
turns, *sizes = map(int, sys.argv[1:])
C, rows = 10.0, []
for kernel in ("linear", "rbf"):
    for count in sizes:
        rng = np.random.default_rng(0)
        away = rng.standard_normal(100)
        away *= 3.5 / np.linalg.norm(away)
        y = np.where(np.arange(count) % 2 == 0, 1, -1)
        X = rng.standard_normal((count, 100)) + np.outer(y == 1, away)
        solvers = {
            "SmoothSVC, gap 1e-4": lambda: SmoothSVC(kernel, C).fit(X, y),
            "SmoothSVC, gap 1e-3": lambda: SmoothSVC(kernel, C, tol=1e-3).fit(X, y),
            "SVC, tol 1e-3": lambda: SVC(C=C / 2, kernel=kernel).fit(X, y),
            "SVC, tol 1e-2": lambda: SVC(C=C / 2, kernel=kernel, tol=1e-2).fit(X, y),
        }
        if kernel == "linear":
            solvers["LinearSVC"] = lambda: LinearSVC(C=C / 2, loss="hinge").fit(X, y)
        best, models = least(solvers, turns)
        exact = SmoothSVC(kernel, C, tol=1e-8).fit(X, y).objective_[0]
        for name, model in models.items():
            rows.append([kernel, count, name, best[name], objective(model, X, y, C) / exact - 1])
print(json.dumps(rows))
"""
TABLES = """
from pathlib import Path
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler
turns, quick, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
digits, flowers, wines = (load(return_X_y=True) for load in (load_digits, load_iris, load_wine))
tables = {
    "breast cancer": load_breast_cancer(return_X_y=True),
    "digits, odd or even": (digits[0], digits[1] % 2),
    "iris, two kinds": (flowers[0][flowers[1] > 0], flowers[1][flowers[1] > 0]),
    "wine, two kinds": (wines[0][wines[1] > 0], wines[1][wines[1] > 0]),
}
genes = ("alon_colon_2000", "golub_leukemia_7129", "singh_prostate_12600") if folder else ()
for name in genes:
    found = np.load(Path(folder) / f"{name}.npz")
    tables[name.split("_")[1]] = (found["X"].astype(float), found["y"])
if quick:
    del tables["digits, odd or even"]  # on which libsvm is slow at small tolerances
rows = []
for name, (X, y) in tables.items():
    X, y = StandardScaler().fit_transform(X), np.where(y == np.unique(y)[1], 1, -1)
    for kernel in ("rbf", "linear"):
        for C in (2.0, 200.0):
            solvers = {
                "ours": lambda: SmoothSVC(kernel, C).fit(X, y),
                "theirs": lambda: SVC(C=C / 2, kernel=kernel).fit(X, y),
            }
            best, models = least(solvers, turns)
            models["exact"] = SVC(C=C / 2, kernel=kernel, tol=1e-7).fit(X, y)
            found, *theirs = (objective(models[n], X, y, C) for n in ("ours", "theirs", "exact"))
            above = [found / one - 1 for one in theirs]
            gap = models["ours"].certificate_.value
            rows.append([name, kernel, C, *X.shape, best["ours"], best["theirs"], *above, gap])
print(json.dumps(rows))
"""
MANY = """
from sklearn.datasets import load_digits, make_classification
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
turns, count = map(int, sys.argv[1:])
images, labels = load_digits(return_X_y=True)

def shifted(images):
    framed = np.pad(images.reshape(-1, 8, 8), ((0, 0), (2, 2), (2, 2))) / 16
    places = [(i, j) for i in range(-2, 3) for j in range(-2, 3)]
    return [np.roll(framed, place, (1, 2)).reshape(-1, 144) for place in places]

rng = np.random.default_rng(0)
order = rng.permutation(len(images))
held, kept = order[:300], order[300:]
some = rng.choice(25 * len(kept), count, replace=False)
tables = {
    "shifted digits, odd or even": (
        np.concatenate(shifted(images[kept]))[some], np.tile(labels[kept] % 2, 25)[some],
        np.concatenate(shifted(images[held])), np.tile(labels[held] % 2, 25),
    ),
}
X, y = make_classification(count + 5000, 20, n_informative=10, n_clusters_per_class=4, random_state=0)
tables["clusters, 20 columns"] = (X[:count], y[:count], X[count:], y[count:])
rows = []
for name, (X, y, Z, z) in tables.items():
    solvers = {
        "SmoothSVC, 500 landmarks": lambda: SmoothSVC(C=20.0, landmarks=500, random_state=0).fit(X, y),
        "SmoothSVC, 1000 landmarks": lambda: SmoothSVC(C=20.0, landmarks=1000, random_state=0).fit(X, y),
        "Nystroem(1000), LinearSVC": lambda: make_pipeline(
            Nystroem(gamma=1 / (X.shape[1] * X.var()), n_components=1000, random_state=0),
            LinearSVC(C=10.0, loss="hinge"),
        ).fit(X, y),
        "SVC": lambda: SVC(C=10.0).fit(X, y),
    }
    best, models = least(solvers, turns)
    rows += [[name, *X.shape, n, best[n], model.score(Z, z)] for n, model in models.items()]
print(json.dumps(rows))
"""


def run(settings):
    turns = 1 if settings.quick else max(settings.reps - 1, 1)
    tables, results = [], {}

    def measure(name, program, arguments, title, headings, note):
        say(f"margins: {name}")
        results[name], why = run_program(settings, COMMON + MACHINES + program, *arguments)
        table = Table(title, headings, note=why or note)
        for row in results[name] or []:
            table.add(*row)
        tables.append(table)

    sizes = (200, 400) if settings.quick else (500, 1000, 2000, 4000, 8000)
    measure(
        "laws", LAWS, (turns, *sizes),
        "Two normal laws in 100 columns, 3.5 apart, C = 10",
        ["kernel", "rows", "machine", "seconds", "objective above"],
        "Above the least objective, as a share of it.",
    )  # fmt: skip
    measure(
        "tables", TABLES, (turns, int(settings.quick), os.environ.get("GARROTE_DATA", "")),
        "Real tables, standardised",
        [
            *("table", "kernel", "C", "rows", "columns", "SmoothSVC, s", "SVC, s"),
            *("above SVC's", "above SVC's, tol 1e-7", "gap"),
        ],
        "Objective of SmoothSVC(C) over that of SVC(C=C / 2), less 1; its own gap.",
    )  # fmt: skip
    measure(
        "many", MANY, (1, 2000 if settings.quick else 20_000),
        "Many rows, rbf kernel, C = 20",
        ["table", "rows", "columns", "machine", "seconds", "accuracy, held out"],
        "The shifted digits that are held out are of other images.",
    )  # fmt: skip
    return tables, results
