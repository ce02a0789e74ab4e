"""The cluster that works for a design: a client's, or one on this machine that is started for it."""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import finalize

# Parameters of tasks are part of the graph on purpose; dask would warn of more than 10 MB of them.
_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "100 GB"}
# Seconds between two looks at whether there is anybody to wait for.
_LOOK_EVERY = 10.0


class Cluster:
    """A client, given or in use, or that of a cluster of processes on this machine.

    The latter is started by the first pass, and ended by `close` or with this object.
    """

    def __init__(self, client: Any = None):
        _distributed()
        self._client = client
        self._own: finalize[..., Any] | None = None
        if client is not None:
            self._refuse_closed()

    @property
    def client(self) -> Any:
        """The client; one is found or started if there is none."""
        if self._client is None:
            distributed = _distributed()
            try:
                self._client = distributed.default_client()
            except ValueError:  # there is none in use
                cluster = distributed.LocalCluster(dashboard_address="127.0.0.1:0")
                self._client = distributed.Client(cluster, set_as_default=False)
                self._own = finalize(self, _end, self._client, cluster)
        self._refuse_closed()
        return self._client

    def _refuse_closed(self) -> None:
        if self._client.status in ("closed", "closing"):
            raise ValueError(
                "the client is closed: make a new distributed.Client, or leave it out for a cluster on "
                "this machine"
            )

    def close(self) -> None:
        """End the cluster if it was started here; another pass would start it again."""
        if self._own is not None:
            self._own()
            self._own = self._client = None

    def compute(self, asked: Sequence[Any]) -> list[Any]:
        """Return the results of delayed tasks, all at once."""
        return list(self.results(asked))

    def results(self, asked: Sequence[Any]) -> Generator[Any]:
        """Yield the results of delayed tasks in their order, each let go of by the cluster then."""
        import dask

        with self.asked() as client, dask.config.set(_SETTINGS):
            futures = client.compute(list(asked))
        futures.reverse()
        while futures:
            future = futures.pop()
            with self.asked(future):
                found = self._waited_for(future)
            yield found

    def _waited_for(self, future: Any) -> Any:
        distributed = _distributed()
        while True:
            try:
                return future.result(timeout=_LOOK_EVERY)
            except distributed.TimeoutError:
                if future.status == "error":  # it was the task that has waited too long
                    raise
                self._fill_places()

    def _fill_places(self) -> None:
        """Have a cluster of this machine start workers again whose places it has given up.

        It starts a worker again that has died. But if 15 seconds later there is none (as starting takes
        long on a busy machine, or as it has died again just then) it closes the place for good, and
        when all places are closed tasks wait for ever.
        """
        cluster = self.client.cluster
        if isinstance(cluster, _distributed().LocalCluster):
            wanted = len(cluster.worker_spec)
            if len(cluster.workers) < wanted:
                cluster.scale(wanted)

    @contextmanager
    def asked(self, future: Any = None) -> Iterator[Any]:
        """Yield the client, and say it in one sentence if the cluster stops to answer.

        What a task itself has raised is raised again as it is; ``future`` is the one that is waited for.
        """
        distributed, client = _distributed(), self.client
        address = getattr(client.scheduler, "address", "") if client.scheduler else ""
        lost: tuple[type[BaseException], ...] = (*_cancelled(), OSError)
        try:
            with client.as_current():
                yield client
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"a task of the cluster at {address} ended its worker again and again, which most often "
                "means that a block does not fit into a worker's memory: rechunk the table to fewer "
                f"rows, or give workers more ({error})"
            ) from error
        except lost as error:
            if future is not None and future.status == "error":
                raise
            raise ConnectionError(
                f"the scheduler at {address} does not answer any more: nothing was fitted; start the "
                "cluster again, with a new client"
            ) from error


def _cancelled() -> tuple[type[BaseException], ...]:
    """Return what is raised for tasks that nobody works on any more."""
    client = _distributed().client
    return client.CancelledError, client.FutureCancelledError


def _end(client: Any, cluster: Any) -> None:
    client.close()
    cluster.close()


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ImportError(
            'tables on a cluster need Dask: run `pip install "garrote[dask]"`'
        ) from error
    return distributed
