"""Sparse coding: dictionaries of patches beside spams and scikit-learn, non-negative factors beside it.

Of each task all libraries take turns in one process, on one thread. Seconds are the least of the
processor's over all turns, so that a busy machine counts little; those of two threads are of the clock.
"""

from processes import run_program, say
from sections.greedy import COMMON
from tables import Table

DICTIONARIES = """
from sklearn.datasets import load_sample_images
from sklearn.feature_extraction.image import extract_patches_2d
from garrote.coding import DictionaryLearning, LassoCoding, Online, SparseCoder
count, turns, peers = map(int, sys.argv[1:])
pictures = [picture.mean(axis=2) / 255 for picture in load_sample_images().images]
patches = np.concatenate([
    extract_patches_2d(picture, (8, 8), max_patches=0.6 * count / picture.size, random_state=0)
    for picture in pictures
]).reshape(-1, 64)
patches -= patches.mean(axis=1, keepdims=True)
length = np.linalg.norm(patches, axis=1)
patches = patches[length > 1e-3] / length[length > 1e-3, None]
rng = np.random.default_rng(0)
rng.shuffle(patches)
given, other = patches[:count], patches[count:]
start = given[rng.choice(count, 256, replace=False)]

def ours(n_jobs=None):
    method = Online(batch_size=512, n_passes=1)
    model = DictionaryLearning(256, method, alpha=0.15, dictionary=start, random_state=0, n_jobs=n_jobs)
    return model.fit(given).components_

solvers = {"garrote": ours}
try:
    import spams
    columns, first = np.asfortranarray(given.T), np.asfortranarray(start.T)
    settings = dict(K=256, lambda1=0.15, mode=2, iter=count // 512, batchsize=512, numThreads=1)
    solvers["spams"] = lambda: spams.trainDL(columns, D=first, verbose=False, **settings).T
except ImportError:
    pass
if peers:
    from sklearn.decomposition import MiniBatchDictionaryLearning
    solvers["scikit-learn, cd"] = lambda: MiniBatchDictionaryLearning(
        256, alpha=0.15, batch_size=512, max_iter=1, fit_algorithm="cd", dict_init=start,
        shuffle=False, tol=0.0, max_no_improvement=None,
    ).fit(given).components_

best, found = least(solvers, turns)
begin = time.perf_counter()
ours(2)
clock = time.perf_counter() - begin
rows = []
for name, atoms in found.items():
    coder = SparseCoder(np.ascontiguousarray(atoms), LassoCoding(0.15)).fit(other)
    codes = coder.encode(other)
    squares = np.sum((other - codes.values @ coder.components_) ** 2)
    objective = (0.5 * squares + 0.15 * np.abs(codes.values.data).sum()) / len(other)
    wall = clock if name == "garrote" else None
    rows.append([name, best[name], wall, objective, codes.certificate.value])
print(json.dumps(rows))
"""
FACTORS = """
from sklearn.datasets import load_digits
from sklearn.decomposition import NMF
from garrote.coding import NonNegativeFactorization
turns, quick = map(int, sys.argv[1:])
rng = np.random.default_rng(0)
product = rng.exponential(size=(2000, 20)) @ rng.exponential(size=(20, 500))
tables = {
    "digits, 1797 x 64, 16 parts": (load_digits().data, 16),
    "noisy product, 2000 x 500, 20 parts": (product + 5 * rng.random(product.shape), 20),
    "positive noise, 5000 x 200, 30 parts": (rng.exponential(size=(5000, 200)), 30),
}
rows = []
for name, (X, count) in list(tables.items())[: 1 if quick else 3]:
    theirs = NMF(count, init="nndsvda", max_iter=2000)
    goal = 0.5 * theirs.fit(X).reconstruction_err_ ** 2 / len(X)
    whole = NonNegativeFactorization(count, max_rounds=2000).fit(X)
    there = whole.record_.objective <= goal
    reached = int(np.argmax(there)) if there.any() else 0
    solvers = {"scikit-learn": lambda: theirs.fit(X), "garrote, to its own end": lambda: whole.fit(X)}
    if reached:
        short = NonNegativeFactorization(count, max_rounds=reached, tol=1e-12)
        solvers["garrote, to that objective"] = lambda: short.fit(X)
    best, models = least(solvers, turns)
    for label, model in models.items():
        record = getattr(model, "record_", None)
        objective = goal if record is None else float(record.objective[-1])
        gap = None if record is None else model.certificate_.value
        rows.append([name, label, best[label], model.n_iter_, objective, gap])
print(json.dumps(rows))
"""


def run(settings):
    turns, tables, results = 1 if settings.quick else max(settings.reps, 3), [], {}
    count = 5000 if settings.quick else 100_000
    say("coding: dictionaries")
    found, why = run_program(
        settings, COMMON + DICTIONARIES, count, turns, 0 if settings.quick else 1
    )
    table = Table(
        f"A dictionary of 256 atoms for {count} patches of 8 x 8: a pass in batches of 512, alpha 0.15",
        [
            "library",
            "seconds",
            "clock, two threads",
            "objective of other patches",
            "gap of their codes",
        ],
        note=why
        or "All begin with the same atoms; the objective is that of exact codes, by garrote.",
    )
    for row in found or []:
        table.add(*row)
    tables.append(table)
    results["dictionaries"] = found
    say("coding: non-negative factors")
    found, why = run_program(settings, COMMON + FACTORS, turns, int(settings.quick))
    table = Table(
        "Non-negative factors, each from its own start by singular vectors",
        ["table", "library", "seconds", "rounds", "objective", "certificate"],
        note=why or "scikit-learn stops at its default tolerance; seconds include the certificate.",
    )
    for row in found or []:
        table.add(*row)
    tables.append(table)
    results["factors"] = found
    return tables, results
