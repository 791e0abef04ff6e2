"""The dashboard of the pipeline itself: what each commit of each view says of itself.

In: nothing but names; the rows come from the relation ``commits`` of the namespace, one for each
commit. Out: its dataset and its dashboard.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
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

_GROUPS = ("view", "epoch", "snapshot_id")

_DELAY = "watermark_delay"
_BEHIND = "date_diff('millisecond', watermark, committed_at) / 1e3"
_RECENT = "committed_at > current_timestamp - INTERVAL '10' MINUTE"
_METRICS = (
    Metric("commits", "Commits", "COUNT(*)", ",d"),
    Metric("last_epoch", "Epoch", "MAX(epoch)", "d"),
    Metric("last_commit", "Last commit (UTC)", "MAX(committed_at)"),
    Metric(
        "age", "Age (s)",
        "date_diff('second', MAX(committed_at), current_timestamp)", ",d",
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
    Metric(
        "freshness_last", "Freshness (s), views", "MAX_BY(freshness, committed_at)", ",.1f",
        "How far the newest commit is behind its newest input",
    ),
    Metric("freshness_max", "Freshness (s), worst", "MAX(freshness)", ",.1f"),
    Metric(
        _DELAY, "Watermark delay (s)", f"MAX_BY({_BEHIND}, committed_at)", ",.0f",
        "How far the watermark of the newest commit is behind its time",
    ),
)  # fmt: skip


def pipeline_dataset() -> Dataset:
    """Return the dataset of the commits."""
    columns = tuple(
        DatasetColumn(name, TYPES[kind], kind == "timestamptz", name in _GROUPS, comment)
        for name, kind, comment in COLUMNS
    )
    description = "One row for each commit of each view and landed table"
    return Dataset(COMMITS, description, "committed_at", columns, _METRICS)


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
        time_range=timedelta(days=1),
        timed=True,
    )


def _charts(watermarks: bool) -> Iterator[Chart]:
    """Few charts: what a number of its own would show stands in the table."""
    for chart in written_charts(CHARTS, {COMMITS}):
        name = chart.name.partition("-")[2]  # the files are numbered
        metrics = [each for each in chart.params["metrics"] if watermarks or each != _DELAY]
        if metrics:  # without the watermark's chart, each of the others fills a row
            width = chart.width if watermarks else 12
            params = {**chart.params, "metrics": metrics}
            yield replace(chart, name=f"{COMMITS}.{name}", params=params, width=width)
