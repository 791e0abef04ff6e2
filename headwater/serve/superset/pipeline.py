"""The dashboard of the pipeline itself: what each commit of each view says of itself.

In: nothing but names; the rows come from the relation ``commits`` of the namespace, one for each
commit. Out: its dataset and its dashboard.
"""

from __future__ import annotations

from collections.abc import Iterator

from headwater.lake.protocol.commits import COLUMNS, COMMITS, TYPES
from headwater.serve.superset import viz
from headwater.serve.superset.model import Chart, Dashboard, Dataset, DatasetColumn, Metric
from headwater.serve.superset.naming import slug_of

REFRESH = 30
"""Seconds after which an open page asks again: each chart reads the snapshots of all tables, which
costs seconds of CPU, where a chart of a view costs milliseconds."""

_HOUR = viz.Times(
    "committed_at",
    grain="PT1M",
    # “Last hour” of Superset 6.1.0 ends at midnight (mended by apache/superset#44254)
    span="DATEADD(DATETIME('now'), -1, HOUR) : now",
    clock="%H:%M",
)

_GROUPS = ("view", "epoch", "snapshot_id")

_DELAY = "watermark_delay"
_BEHIND = "date_diff('millisecond', watermark, committed_at) / 1e3"
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
    Metric("rows_quarantined_sum", "Rows refused", "COALESCE(SUM(rows_quarantined), 0)", ",d"),
    Metric(
        "freshness_last", "Freshness (s)", "MAX_BY(freshness, committed_at)", ",.1f",
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
        namespace: of the project's tables.
        title: of the project.
        watermarks: whether a table of the project has one.
    """
    return Dashboard(
        slug=slug_of(namespace, pipeline=True),
        title=f"{title}: pipeline",
        charts=tuple(_charts(watermarks)),
        refresh=REFRESH,
        time_filter=True,
    )


def _charts(watermarks: bool) -> Iterator[Chart]:
    """Few charts: what a number of its own would show stands in the table."""
    delay = [_DELAY] if watermarks else []
    rows = ("rows_in_sum", "rows_out_sum", "rows_late_sum", "rows_quarantined_sum")
    state = ("last_epoch", "last_commit", "age", "freshness_last", *delay)
    summary = viz.summary(["view"], (*state, *rows))
    yield _chart("views", "Views and tables, all commits that are kept", summary, 12)
    bars = viz.stacked_bars(_HOUR, "rows_out_sum", ["view"], number=",d", title="rows")
    yield _chart("rows_out", "Rows written per minute, last hour (UTC)", bars, 12)
    titles = {
        "freshness_max": "Freshness (s): behind the newest input, worst of a minute",
        _DELAY: "Watermark delay (s): behind the commit, last of a minute",
    }
    drawn = ["freshness_max", *delay]
    for metric in drawn:
        lines = viz.line(_HOUR, metric, ["view"], number=",.1f", title="seconds")
        yield _chart(metric, titles[metric], lines, 12 // len(drawn))


def _chart(name: str, title: str, settings: viz.Settings, width: int) -> Chart:
    kind, params = settings
    return Chart(f"{COMMITS}.{name}", COMMITS, title, kind, params, width=width)
