"""What Prometheus reads of a service or a worker. No label names a library, a key or an address,
and each has few values: whoever may read the metrics learns nothing of what is indexed.
"""

import platform
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from contextlib import suppress
from importlib.metadata import version
from time import monotonic
from typing import Generic, TypeVar

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Metric,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from pgrag.ground.callers import Work, calling, working
from pgrag.ground.calls import Row
from pgrag.ground.counts import counted
from pgrag.ground.errors import PgragError
from pgrag.ground.standbys import Standing, standings
from pgrag.service.app import App
from pgrag.service.work import Works

T = TypeVar("T")

FRESH_SECONDS = 10.0
"""How long what was read of the database is told again."""

PATIENCE_SECONDS = 3.0
"""How long a scrape waits for the database."""

_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
#: A connection of its own: a scrape waits for no search, and no search for a scrape.
_WORK = Work("metrics", 1, PATIENCE_SECONDS, PATIENCE_SECONDS)

_JOBS = """
select
    s.state,
    count(j.state) as jobs,
    extract(epoch from now() - min(j.run_at) filter (where j.run_at <= now()))::float as oldest
from unnest('{uploading,queued,running,succeeded,failed,cancelled}'::text[]) as s (state)
left join pgrag.jobs as j on j.state = s.state
group by s.state
"""
#: Names of tables are those of the schema, the same in every database.
_SIZES = """
select c.relname as name, pg_total_relation_size(c.oid) as bytes
from pg_class as c
where c.relnamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace) and c.relkind in ('r', 'm')
"""
_EVENTS = {
    "unreadable_requests": ("Requests that are not HTTP/1.1, or too long.", ("status",)),
    "model_calls": ("Requests to model servers, each attempt.", ("model", "outcome")),
    "job_attempts": ("Attempts at jobs that this process has ended.", ("outcome",)),
    "replica_failures": ("Reads that a standby did not answer.", ("reason",)),
}


disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """The metrics of one process, in a registry of their own."""

    def __init__(self, app: App) -> None:
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        labels = ("route", "method", "status", "work")
        self._requests = Counter(
            "pgrag_requests", "Requests that have ended.", labels, registry=self.registry
        )
        self._seconds = Histogram(
            "pgrag_request_seconds", "Seconds from a request to the end of its answer.",
            ("route", "method"), buckets=_BUCKETS, registry=self.registry,
        )  # fmt: skip
        self.works: Works | None = None
        self.app = app
        self.registry.register(_Process(self))
        self.registry.register(_Stored(app))
        if app.read_url is not None:
            self.registry.register(_Followers(lambda: app.url, app.read_url))

    def count_request(self, labels: tuple[str, str, str, str], seconds: float) -> None:
        """Count a request by its route, method, status and class of work."""
        self._requests.labels(*labels).inc()
        self._seconds.labels(*labels[:2]).observe(seconds)


class _Process(Collector):
    """What this process knows without the database."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        build = GaugeMetricFamily(
            "pgrag_build_info", "The version, always 1.", labels=("version", "python")
        )
        build.add_metric((version("pgrag-search"), platform.python_version()), 1)
        yield build
        for name, (about, labels) in _EVENTS.items():
            family = CounterMetricFamily(f"pgrag_{name}", about, labels=labels)
            for values, times in counted(name).items():
                family.add_metric([dict(values)[label] for label in labels], times)
            yield family
        yield from _connections(self._metrics.app)
        if self._metrics.works is not None:
            yield from _turns(self._metrics.works)


def _connections(app: App) -> Iterator[Metric]:
    """The pools of this process; a database that nothing has asked yet has none."""
    primary = app._database
    databases = [] if primary is None else [("primary", primary)]
    if primary is not None and primary.replicas is not None:
        databases += [
            (f"replica {nth}", each) for nth, each in enumerate(primary.replicas.databases, start=1)
        ]
    of = ("server", "pool", "callers")
    used = GaugeMetricFamily(
        "pgrag_connections", "Connections to the database.", labels=(*of, "state")
    )
    waiting = GaugeMetricFamily(
        "pgrag_connections_waiting", "Who waits for a connection.", labels=of
    )
    for server, database in databases:
        for (name, is_restricted), pool in database.pools().items():
            labels = (server, name or "shared", "keys" if is_restricted else "service")
            now = pool.get_stats()
            idle = now.get("pool_available", 0)
            used.add_metric((*labels, "idle"), idle)
            used.add_metric((*labels, "used"), now.get("pool_size", 0) - idle)
            waiting.add_metric(labels, now.get("requests_waiting", 0))
    yield from (used, waiting)


def _turns(works: Works) -> Iterator[Metric]:
    families = {
        "size": "How much work of the class may run at a time.",
        "running": "Work of the class that runs.",
        "waiting": "Work of the class that waits for its turn.",
    }
    standing = works.standing()
    for place, (name, about) in enumerate(families.items(), start=1):
        family = GaugeMetricFamily(f"pgrag_work_{name}", about, labels=("work",))
        for row in standing:
            family.add_metric((row[0],), float(row[place]))
        yield family


class _Read(Collector, Generic[T]):
    """What only servers know. A scrape never waits long for it."""

    def __init__(self, read: Callable[[], T]) -> None:
        self._read = read
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pgrag metrics")
        self._reading: Future[T] | None = None
        self._read_at = -FRESH_SECONDS

    def describe(self) -> Iterable[Metric]:
        """Nothing: registering must not read the database."""
        return []

    def known(self) -> T:
        """What was read a moment ago. Raises `TooLate`, and errors of the reading."""
        if self._reading is None or (
            self._reading.done() and monotonic() - self._read_at >= FRESH_SECONDS
        ):
            self._reading, self._read_at = self._thread.submit(self._read), monotonic()
        return self._reading.result(PATIENCE_SECONDS)


class _Stored(_Read[tuple[list[Row], list[Row]]]):
    """What is in the database."""

    def __init__(self, app: App) -> None:
        def read() -> tuple[list[Row], list[Row]]:
            with calling(None), working(_WORK):
                return app.database.query(_JOBS), app.database.query(_SIZES)

        super().__init__(read)

    def collect(self) -> Iterator[Metric]:
        """The families of the database."""
        try:
            jobs, sizes = self.known()
        except (PgragError, TooLate):
            yield GaugeMetricFamily("pgrag_database_up", _UP, value=0)
            return
        yield GaugeMetricFamily("pgrag_database_up", _UP, value=1)
        yield _family("pgrag_jobs", "Jobs by state.", "state", jobs, "jobs")
        waiting = next((row["oldest"] for row in jobs if row["state"] == "queued"), None)
        yield GaugeMetricFamily(
            "pgrag_jobs_oldest_seconds", "Seconds for which the oldest job is due.", waiting or 0
        )
        yield _family(
            "pgrag_table_bytes", "Bytes of a table with its indexes.", "table",
            [row | {"table": row["name"]} for row in sizes], "bytes",
        )  # fmt: skip


class _Followers(_Read[list[Standing]]):
    """The servers that are read: whether each is fit, and how far it is behind the primary."""

    def __init__(self, url: Callable[[], str], read_url: str) -> None:
        super().__init__(lambda: standings(url(), read_url))

    def collect(self) -> Iterator[Metric]:
        """The families of the standbys, each by its place in PGRAG_READ_URL."""
        replicas: list[Standing] = []
        with suppress(PgragError, TooLate):
            replicas = self.known()
        for name, about in _OF_REPLICAS.items():
            family = GaugeMetricFamily(f"pgrag_replica_{name}", about, labels=("replica",))
            for nth, each in enumerate(replicas, start=1):
                value = each.level == "ok" if name == "fit" else getattr(each, name)
                if value is not None:
                    family.add_metric((str(nth),), float(value))
            yield family


_OF_REPLICAS = {
    "fit": "Whether a server of PGRAG_READ_URL answers as it should.",
    "lag_bytes": "Bytes of the log that it is behind the primary.",
    "lag_seconds": "Seconds that it is behind the primary.",
}
_UP = "Whether the database answers."


def _family(name: str, about: str, label: str, rows: list[Row], value: str) -> Metric:
    family = GaugeMetricFamily(name, about, labels=(label,))
    for row in rows:
        family.add_metric((row[label],), row[value])
    return family
