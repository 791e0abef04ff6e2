"""The metrics of a running project, for Prometheus and whatever else reads OpenMetrics.

In: the tally of a run. Out: an HTTP server that answers each scrape from the tally, in a thread of
its own. A reader that takes OpenMetrics gets it; others get Prometheus' older text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    InfoMetricFamily,
    Metric,
    StateSetMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from headwater import __version__
from headwater.errors import ServiceError
from headwater.project import Project
from headwater.runtime.events import RunState
from headwater.runtime.run_metrics import TableMetrics, Tally

LABELS = ("kind", "name")
"""What each sample is about: ``kind="view"``, ``name="orders_per_hour"``."""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric that every relation has at most one value of.

    Attributes:
        name: its name; OpenMetrics wants a unit at its end, and puts ``_total`` behind counters.
        help: what it says.
        value: its value for one relation, None if it has none.
    """

    name: str
    help: str
    value: Callable[[TableMetrics], float | None]

    @property
    def unit(self) -> str:
        """Its unit, which is the end of its name; empty if it is a plain number."""
        return "seconds" if self.name.endswith("_seconds") else ""


def _since(moment: float) -> float:
    return max(0.0, time.time() - moment)


def _lag_seconds(each: TableMetrics) -> float | None:
    lacks = each.lacks
    return None if lacks is None else max((_since(made.at) for made in lacks), default=0.0)


def _rows(what: str, *, sinks: bool = True) -> Callable[[TableMetrics], float | None]:
    none = ("source",) if sinks else ("source", "sink")
    return lambda each: None if each.kind in none else each.counts[what]


GAUGES = (
    Family("headwater_epoch", "Epoch of the newest commit", lambda each: each.epoch),
    Family(
        "headwater_watermark_timestamp_seconds",
        "Watermark in the newest commit, in seconds since 1970",
        lambda each: None if each.watermark is None else each.watermark / 1e6,
    ),
    Family(
        "headwater_age_seconds",
        "Age of the newest commit; it also grows while no input changes",
        lambda each: None if each.committed_at is None else _since(each.committed_at),
    ),
    Family(
        "headwater_lag_commits",
        "Commits of its inputs that its newest commit has not read",
        lambda each: None if each.lacks is None else len(each.lacks),
    ),
    Family(
        "headwater_lag_seconds",
        "Age of the oldest commit of its inputs that its newest commit has not read, or 0",
        _lag_seconds,
    ),
)
"""What is so now."""

COUNTERS = (
    Family(
        "headwater_rows_in",
        "Rows read by a table from its connector, or by a view or sink from its inputs",
        lambda each: each.rows_read() if each.inputs else _rows("in")(each),
    ),
    Family("headwater_rows_out", "Rows written", _rows("out", sinks=False)),
    Family("headwater_rows_late", "Rows dropped as late, except of a SOURCE", _rows("late")),
    Family("headwater_rows_quarantined", "Rows quarantined", _rows("quarantined")),
    Family("headwater_rows_dropped", "Bad rows dropped by ON ERROR DROP", _rows("dropped")),
    Family("headwater_records_lost", "Records deleted before they were read", _rows("lost")),
    Family(
        "headwater_restarts",
        "Restarts after a failure",
        lambda each: each.restarts,
    ),
)
"""What only grows; it begins at 0 with the process."""


class Metrics(Collector):
    """Makes the samples of a scrape.

    Args:
        tally: what its run has done so far.
    """

    def __init__(self, project: Project, tally: Tally) -> None:
        config = project.config
        self._about = {
            "project": config.name, "namespace": config.namespace, "version": __version__,
        }  # fmt: skip
        self._tally = tally
        self._began = time.time()

    def collect(self) -> Iterator[Metric]:
        """Give every family with its samples."""
        yield InfoMetricFamily("headwater", "Project, namespace and version", self._about)
        with self._tally.relations() as relations:
            families = [
                _states(relations),
                *(self._of(GaugeMetricFamily, family, relations) for family in GAUGES),
                *(self._of(CounterMetricFamily, family, relations) for family in COUNTERS),
                _waiting(relations),
                _commits(relations),
            ]
        yield from families

    def _of(
        self,
        kind: type[GaugeMetricFamily | CounterMetricFamily],
        family: Family,
        relations: Sequence[TableMetrics],
    ) -> Metric:
        found = kind(family.name, family.help, labels=LABELS, unit=family.unit)
        for each in relations:
            value = family.value(each)
            if value is not None and isinstance(found, CounterMetricFamily):
                found.add_metric((each.kind, each.name), value, created=self._began)
            elif value is not None:
                found.add_metric((each.kind, each.name), value)
        return found


def _states(relations: Sequence[TableMetrics]) -> Metric:
    text = "1 for the present state, 0 for all others"
    found = StateSetMetricFamily("headwater_state", text, labels=LABELS)
    for each in relations:
        states = {state.value: each.state is state for state in RunState}
        found.add_metric((each.kind, each.name), states)
    return found


def _waiting(relations: Sequence[TableMetrics]) -> Metric:
    text = "Records of Kafka or Redis that wait to be read, by partition or stream"
    found = GaugeMetricFamily("headwater_waiting_records", text, labels=(*LABELS, "partition"))
    for each in relations:
        for partition, records in each.waiting.items():
            found.add_metric((each.kind, each.name, partition), records)
    return found


def _commits(relations: Sequence[TableMetrics]) -> Metric:
    text = "Number of commits and their total duration"
    name = "headwater_commit_duration_seconds"
    found = SummaryMetricFamily(name, text, labels=LABELS, unit="seconds")
    for each in relations:
        if each.kind != "source":
            found.add_metric((each.kind, each.name), each.commits, each.seconds)
    return found


@contextmanager
def served(metrics: Metrics, host: str, port: int) -> Iterator[str]:
    """Serve metrics on HTTP until the block ends.

    Args:
        host: the address to listen on.

    Yields:
        Where they are.

    Raises:
        ServiceError: ``METRICS_PORT``: it cannot be listened on.
    """
    registry = CollectorRegistry(auto_describe=False)
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise ServiceError(
            "METRICS_PORT",
            f"cannot serve metrics on {host}, port {port}: {error.strerror or error}",
            hint="choose another port: --metrics-port, or metrics.port in headwater.toml",
        ) from error
    try:
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
