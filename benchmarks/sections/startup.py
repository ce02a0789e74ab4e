"""What a user waits for before the first answer, beyond importing scikit-learn and numba."""

import json
import sys
import tempfile

from processes import run as run_process
from processes import say
from tables import Table, figure, spread

PROGRAM = """
import json, time
import numba, numpy as np, scipy.sparse, sklearn.linear_model
rng = np.random.default_rng(0)
X = rng.standard_normal((100, 200))
y = X[:, 0] - X[:, 1] + rng.standard_normal(100)
start = time.perf_counter()
from garrote import VariationalGarrote
imported = time.perf_counter()
VariationalGarrote(gamma="free_energy").fit(X, y)
fitted = time.perf_counter()
VariationalGarrote(gamma="free_energy").fit(X, y)
again = time.perf_counter()
print(json.dumps([imported - start, fitted - imported, again - fitted]))
"""
ROWS = ("first process, empty cache", "second process")
NOTE = "A problem of 100 x 200; the cache is numba's, in a folder of its own."


def run(settings):
    results = {row: [] for row in ROWS}
    for rep in range(settings.reps):
        say(f"startup, {rep + 1} of {settings.reps}")
        with tempfile.TemporaryDirectory(dir=settings.scratch) as cache:
            for row in ROWS:
                command = [sys.executable, "-c", PROGRAM]
                done = run_process(command, settings.threads, None, {"NUMBA_CACHE_DIR": cache})
                if done.returncode:
                    reason = done.stderr.strip().splitlines()[-1]
                    say(f"  left out: {reason}")
                    return [], {"skipped": reason}
                results[row].append(json.loads(done.stdout))
    headings = ["", "import garrote, s", "first fit, s", "both, s", "next fit, s"]
    table = Table("Start-up", headings, note=NOTE)
    for row, reps in results.items():
        imports, first, again = zip(*reps, strict=True)
        both = min(i + f for i, f in zip(imports, first, strict=True))
        table.add(row, spread(imports), spread(first), figure(both), spread(again))
    return [table], results
