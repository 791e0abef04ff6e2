"""The dashboard of the pipeline itself: what each commit of each view says of itself.

In: nothing but names; the rows come from the relation ``commits`` of the namespace, one for each
commit. Out: its datasets and its dashboard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from headwater.lake.protocol.commits import COLUMNS, COMMITS, TYPES
from headwater.serve.superset.chart_files import written_charts
from headwater.serve.superset.model import Chart, Dashboard, Dataset, DatasetColumn, Metric
from headwater.serve.superset.naming import slug_of

REFRESH = 30
"""Seconds after which an open page asks again: each chart reads the snapshots of all tables, which
costs seconds of CPU, where a chart of a view costs milliseconds."""

CHARTS = Path(__file__).with_name("pipeline_charts")
"""The charts, as people write theirs; ``dashboards/pipeline`` of the repository shows them."""

PER_MINUTE = f"{COMMITS}_per_minute"
"""A dataset of the last hour, minute by minute: a minute without commits has a row, too. Otherwise
a chart of a single commit would have an axis of two days."""

_GROUPS = ("view", "epoch", "snapshot_id")
_DURATION = "DURATION"
"""Superset's format of milliseconds, such as ``3m 20s``."""

_DELAY = "watermark_delay"
_BEHIND = "date_diff('millisecond', watermark, committed_at)"
_RECENT = "committed_at > current_timestamp - INTERVAL '10' MINUTE"
_UNITS = (
    (365 * 86_400_000, 86_400_000),
    (86_400_000, 3_600_000),
    (3_600_000, 60_000),
    (60_000, 1000),
)
"""From what length on, how long the smallest part is that is shown: milliseconds."""


def two_units(length: str) -> str:
    """Return SQL of a length of time without what is too small to matter: ``2y 331d``, ``3m 20s``.

    Args:
        length: SQL of whole milliseconds.
    """
    cases = " ".join(f"WHEN {length} >= {size} THEN {unit}" for size, unit in _UNITS)
    return f"{length} - {length} % CASE {cases} ELSE 1 END"


def _length(name: str, title: str, length: str, description: str = "") -> Metric:
    return Metric(name, title, two_units(length), _DURATION, description)


_FRESHNESS = "CAST(freshness * 1e3 AS BIGINT)"
_METRICS = (
    Metric("commits", "Commits", "COUNT(*)", ",d"),
    Metric("last_epoch", "Epoch", "MAX(epoch)", "d"),
    Metric("last_commit", "Last commit (UTC)", "MAX(committed_at)"),
    _length(
        "age", "Age", "date_diff('millisecond', MAX(committed_at), current_timestamp)",
        "Since its last commit",
    ),
    Metric("rows_in_sum", "Rows in", "SUM(rows_in)", ",d"),
    Metric("rows_out_sum", "Rows out", "SUM(rows_out)", ",d"),
    Metric("rows_late_sum", "Rows late", "COALESCE(SUM(rows_late), 0)", ",d"),
    Metric("rows_quarantined_sum", "Rows quarantined", "COALESCE(SUM(rows_quarantined), 0)", ",d"),
    *(
        Metric(
            f"rows_{kind}_recent", f"Rows {kind}, 10 min",
            f"COALESCE(SUM(rows_{kind}) FILTER (WHERE {_RECENT}), 0)", ",d",
        )
        for kind in ("in", "out", "late", "quarantined")
    ),
    _length(
        "freshness_last", "Freshness", f"MAX_BY({_FRESHNESS}, committed_at)",
        "How far the newest commit is behind its newest input",
    ),
    _length("freshness_max", "Freshness, worst", f"MAX({_FRESHNESS})"),
    _length(
        _DELAY, "Watermark delay", f"MAX_BY({_BEHIND}, committed_at)",
        "How far the watermark of the newest commit is behind its time",
    ),
)  # fmt: skip

_ROWS_WRITTEN = ("out", "late", "quarantined")
_MINUTES: Sequence[tuple[str, str, str]] = (
    *((f"rows_{kind}", "BIGINT", f"COALESCE(SUM(rows_{kind}), 0)") for kind in _ROWS_WRITTEN),
    ("freshness", "BIGINT", f"MAX({_FRESHNESS})"),
    ("behind", "BIGINT", f"MAX_BY({_BEHIND}, committed_at)"),
)
"""Name, type and SQL of what is measured each minute."""

_MINUTE_METRICS = (
    *(
        Metric(f"rows_{kind}_sum", f"Rows {'written' if kind == 'out' else kind}",
               f"SUM(rows_{kind})", ",d")
        for kind in _ROWS_WRITTEN
    ),
    _length("freshness_max", "Freshness, worst", "MAX(freshness)"),
    _length(_DELAY, "Watermark delay", "MAX(behind)"),
)  # fmt: skip


def pipeline_datasets(namespace: str) -> list[Dataset]:
    """Return the datasets of the commits: one row each, and the minutes of the last hour.

    Args:
        namespace: of the project's tables.
    """
    columns = tuple(
        DatasetColumn(name, TYPES[kind], kind == "timestamptz", name in _GROUPS, comment)
        for name, kind, comment in COLUMNS
    )
    minutes = (
        DatasetColumn("view", "VARCHAR"),
        DatasetColumn("minute", "TIMESTAMP(6)", is_time=True),
        *(DatasetColumn(name, kind, groupable=False) for name, kind, _ in _MINUTES),
    )
    description = "One row for each commit of each view and landed table"
    of_minutes = "One row for each minute of the last hour, of each view and landed table"
    return [
        Dataset(COMMITS, description, "committed_at", columns, _METRICS),
        Dataset(
            PER_MINUTE, of_minutes, "minute", minutes, _MINUTE_METRICS, sql=_minutes_sql(namespace)
        ),
    ]


def _minutes_sql(namespace: str) -> str:
    """Read the commits once: that reads the snapshots of all tables."""
    now = "date_trunc('minute', CAST(current_timestamp AT TIME ZONE 'UTC' AS TIMESTAMP(6)))"
    at = "date_trunc('minute', CAST(committed_at AT TIME ZONE 'UTC' AS TIMESTAMP(6)))"
    measured = ",\n      ".join(f"{sql} AS {name}" for name, _, sql in _MINUTES)
    names = ", ".join(name for name, _, _ in _MINUTES)
    fields = ", ".join(f"{name} {kind}" for name, kind, _ in _MINUTES)
    shown = ",\n  ".join(
        f"COALESCE(element_at(measured, minute).{name}, 0) AS {name}"
        if name.startswith("rows_")
        else f"element_at(measured, minute).{name} AS {name}"
        for name, _, _ in _MINUTES
    )
    return f"""SELECT view, minute,
  {shown}
FROM (
  SELECT view, map_agg(minute, CAST(ROW({names}) AS ROW({fields}))) AS measured
  FROM (
    SELECT view, {at} AS minute,
      {measured}
    FROM "{namespace}".{COMMITS}
    GROUP BY 1, 2
  )
  GROUP BY view
)
CROSS JOIN UNNEST(sequence({now} - INTERVAL '59' MINUTE, {now}, INTERVAL '1' MINUTE)) AS m (minute)
"""


def pipeline_dashboard(namespace: str, title: str, *, watermarks: bool) -> Dashboard:
    """Return the dashboard of a project's pipeline.

    Args:
        watermarks: whether a table of the project has one.
    """
    return Dashboard(
        slug=slug_of(namespace, pipeline=True),
        title=f"{title}: pipeline",
        charts=tuple(_charts(watermarks)),
        refresh=REFRESH,
    )


def _charts(watermarks: bool) -> Iterator[Chart]:
    """Few charts: what a number of its own would show stands in the table."""
    for chart in written_charts(CHARTS, {COMMITS, PER_MINUTE}):
        name = chart.name.partition("-")[2]  # the files are numbered
        metrics = [each for each in chart.params["metrics"] if watermarks or each != _DELAY]
        if metrics:  # without the watermark's chart, each of the others fills a row
            width = chart.width if watermarks else 12
            params = {**chart.params, "metrics": metrics}
            yield replace(chart, name=f"{COMMITS}.{name}", params=params, width=width)
