"""Tables on a cluster of two real processes: equal to memory, bit for bit again, whoever is killed."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest
from joblib import parallel_config

from contracts import assert_near
from garrote import SparseClassifier, SparseRegressor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    distributed = pytest.importorskip("distributed")
    import dask
    import dask.array as da
    import pandas as pd
    from dask import dataframe as dd
    from dask import delayed

from garrote.designs import ChunkedDesign, DaskDesign

ROWS, COLUMNS = 600, 7

# dask's own: event loops and sockets of processes that are told to end.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):  # fmt: skip
        yield client


def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, COLUMNS)) + rng.standard_normal((ROWS, 1))
    return X, X[:, 1] - 2 * X[:, 4] + rng.standard_normal(ROWS)


def sleepy(block, seconds=0.1):
    time.sleep(seconds)
    return block


def test_products_and_moments_equal_dense(client):
    X, _ = table()
    rng = np.random.default_rng(1)
    design = DaskDesign(da.from_array(X, chunks=(130, 3)), client)
    left, coef, columns = rng.standard_normal((2, ROWS)), rng.standard_normal((2, 3)), [5, 0]
    weights = rng.integers(0, 3, ROWS).astype(float)
    assert_near(design.tdot(left), left @ X)
    assert_near(design.dot(np.array(columns), coef), X[:, columns] @ coef)
    assert_near(design.take(np.array(columns), X.mean(axis=0)), (X - X.mean(axis=0))[:, columns])
    assert_near(design.some_rows([599, 4]), X[[599, 4]])
    plain = ChunkedDesign(X).moments(weights)
    assert_near(design.moments(weights).deviation, plain.deviation)


def test_fits_are_those_of_the_table_in_memory(client):
    X, y = table()
    design = DaskDesign(da.from_array(X, chunks=(100, 7)), client)
    weights = np.random.default_rng(1).integers(0, 3, ROWS).astype(float)
    inside, outside = (SparseRegressor(cv=3, stability=2, n_jobs=2) for _ in range(2))
    inside.fit(X, y, weights)
    with parallel_config(backend="dask", client=client):  # refits run on the workers
        outside.fit(design, y, weights)
    np.testing.assert_allclose(outside.coef_, inside.coef_, atol=1e-8)
    np.testing.assert_allclose(outside.predict(design), inside.predict(X), atol=1e-8)
    found = [model.selection_.stability.found for model in (inside, outside)]
    np.testing.assert_array_equal(*found)
    labels = y > 0
    ours, plain = (SparseClassifier(alpha=0.05).fit(part, labels) for part in (design, X))
    np.testing.assert_allclose(ours.coef_, plain.coef_, atol=1e-8)


def test_data_frame_brings_names_and_lengths(client):
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(COLUMNS)])
    parts = dd.from_pandas(frame, npartitions=4)
    design = DaskDesign(parts[parts["g0"] > -10], client)  # lengths are not known
    found = SparseRegressor(alpha="bic").fit(design, y)
    assert found.selection_.names[:2] == ("g0", "g1")
    np.testing.assert_allclose(found.coef_, SparseRegressor(alpha="bic").fit(X, y).coef_, atol=1e-8)
    words = dd.from_pandas(frame.assign(city="Ulm"), npartitions=2)
    with pytest.raises(ValueError, match="'city' holds no numbers"):
        DaskDesign(words, client)


def killed_in_the_middle(client, number, wait):
    """Kill a worker a while from now, as the system does where memory runs out."""
    client.wait_for_workers(2)

    def kill():
        time.sleep(wait)
        workers = client.cluster.workers
        os.kill(list(workers.values())[number % len(workers)].pid, signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def same_when_killed(client, number):
    X, y = table()
    # A name of its own: a scheduler counts in how many workers' deaths a task has had a part.
    table_of = da.from_array(X, chunks=(50, 7), name=False).map_blocks(sleepy, dtype=float)
    design = DaskDesign(table_of, client)
    whole = DaskDesign(da.from_array(X, chunks=(50, 7)), client).condense(y)
    thread = killed_in_the_middle(client, number, 0.15 + 0.05 * (number % 8))
    found = design.condense(y)
    thread.join()
    assert (found.design.values == whole.design.values).all()
    assert (found.y == whole.y).all()


def test_killed_worker_changes_nothing(client):
    same_when_killed(client, 0)


def test_places_that_a_cluster_gives_up_are_filled_again(client, monkeypatch):
    """As after a start that takes too long, or a second death while the first is being seen to."""
    monkeypatch.setattr("garrote.designs.blocks.clusters._LOOK_EVERY", 0.5)
    X, y = table()
    slow = da.from_array(X, chunks=(200, 7), name=False).map_blocks(sleepy, dtype=float)
    whole = DaskDesign(da.from_array(X, chunks=(200, 7)), client).condense(y)
    client.wait_for_workers(2)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1 ms"}):
        for worker in list(client.cluster.workers.values()):
            os.kill(worker.pid, signal.SIGKILL)
        while client.cluster.workers:
            time.sleep(0.05)
    found = DaskDesign(slow, client).condense(y)
    assert (found.design.values == whole.design.values).all()


@pytest.mark.slow
def test_twenty_killed_workers_change_nothing(client):
    for number in range(20):
        same_when_killed(client, number)


def test_schedule_changes_no_digit(client):
    X, _ = table()
    left = np.random.default_rng(0).standard_normal((3, ROWS))

    def jittered(block):
        time.sleep(np.random.default_rng().uniform(0, 0.02))
        return block

    stored = da.from_array(X, chunks=(40, 7))
    plain = DaskDesign(stored, client).tdot(left)
    assert (DaskDesign(stored.map_blocks(jittered, dtype=float), client).tdot(left) == plain).all()


def test_bad_tables_and_clients_are_refused(client):
    X, y = table()
    gap = X.copy()
    gap[333, 2] = np.nan
    with pytest.raises(ValueError, match=r"missing value \(NaN\) at row 333, column 2"):
        SparseRegressor().fit(DaskDesign(da.from_array(gap, chunks=(200, 7)), client), y)
    with pytest.raises(TypeError, match=r"takes a dask.array or a dask.dataframe, got a ndarray"):
        DaskDesign(X, client)
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        DaskDesign(da.zeros(4), client)
    with pytest.raises(TypeError, match="must hold numbers"):
        DaskDesign(da.from_array(np.array([["a"]])), client)
    unlike = da.from_delayed(delayed(np.ones)((9, 6)), (9, 7), float)
    with pytest.raises(ValueError, match=r"shape \(9, 6\), and had \(9, 7\)"):
        DaskDesign(unlike, client).tdot(np.ones((1, 9)))


def unreadable(block):
    raise OSError("no such bucket")


def test_storage_that_cannot_be_read_says_so_itself(client):
    design = DaskDesign(da.zeros((9, 7)).map_blocks(unreadable, dtype=float), client)
    with pytest.raises(OSError, match="no such bucket"):
        design.tdot(np.ones((1, 9)))


def test_closed_client_is_refused(client):
    X, y = table()
    with distributed.Client(client.cluster, set_as_default=False) as other:
        design = DaskDesign(da.from_array(X), other)
    with pytest.raises(ValueError, match="the client is closed: make a new"):
        SparseRegressor().fit(design, y)


def test_scheduler_that_dies_gives_one_clear_error(tmp_path, monkeypatch):
    X, _ = table()
    # The scheduler reads tasks, and finds beside its own script what they call.
    (tmp_path / "slow_blocks.py").write_text(
        "import time\ndef slow(block):\n    time.sleep(0.1)\n    return block\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from slow_blocks import slow

    script = (
        "import time\n"
        "from distributed import LocalCluster\n"
        "if __name__ == '__main__':\n"
        "    with LocalCluster(n_workers=1, processes=False, protocol='tcp://',\n"
        "                      dashboard_address='127.0.0.1:0') as cluster:\n"
        "        print(cluster.scheduler_address, flush=True)\n"
        "        time.sleep(60)\n"
    )
    (tmp_path / "cluster.py").write_text(script)
    command = [sys.executable, str(tmp_path / "cluster.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as scheduler:
        address = scheduler.stdout.readline().strip()
        with distributed.Client(address, set_as_default=False, timeout=20) as client:
            stored = da.from_array(X, chunks=(20, 7)).map_blocks(slow, dtype=float)
            design = DaskDesign(stored, client)
            threading.Timer(0.5, scheduler.kill).start()
            with pytest.raises(
                ConnectionError, match="does not answer any more: nothing was fitted"
            ):
                design.tdot(np.ones((1, ROWS)))


def test_cluster_of_its_own_is_started_and_ended():
    X, _ = table()
    with DaskDesign(da.from_array(X, chunks=(300, 7))) as design:
        assert_near(design.tdot(np.ones((1, ROWS)))[0], X.sum(axis=0))
        client = design.client
    assert client.status == "closed"
