"""Superset's settings for the kinds of chart that are made here.

In: names of columns and metrics. Out: the name of a kind and its settings (Superset's form data).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Settings = tuple[str, Mapping[str, Any]]

_POINTS = 10_000  # rows that a chart draws at most
_BARS = 50
_ROWS = 1000  # that a table has at most; Superset says so where there are more
_CLOCK = "%Y-%m-%d %H:%M:%S"
_ALWAYS = "No filter"
TEMPORAL_RANGE = "TEMPORAL_RANGE"
"""The operator of what the span of time of a page replaces."""


@dataclass(frozen=True, slots=True)
class Times:
    """An axis of time.

    Attributes:
        column: the column of times.
        grain: lengths of time that rows are gathered in, as ISO 8601 writes them; None for each
            time that occurs.
    """

    column: str
    grain: str | None = None


def line(times: Times, metric: str, by: Sequence[str] = (), *, number: str, title: str) -> Settings:
    """Return a line over time, one for each group.

    Args:
        times: the axis of time.
        by: columns of the groups.
        number: format of the numbers.
        title: of the axis of numbers.
    """
    return "echarts_timeseries_line", {
        "x_axis": times.column,
        "time_grain_sqla": times.grain,
        "metrics": [metric],
        "groupby": list(by),
        "adhoc_filters": [within(times.column)],
        "row_limit": _POINTS,
        "y_axis_format": _on_axis(number),
        "y_axis_title": title,
        "show_legend": bool(by),
        "legendOrientation": "top",
        "rich_tooltip": True,
        "truncate_metric": True,
        # a group that has no row at a time of another one leaves a gap, and a lone point no line
        "markerEnabled": True,
        "markerSize": 5,
    }


def bar(name: str, metric: str, *, number: str) -> Settings:
    """Return one bar for each name, the longest first.

    Args:
        name: the column of the names.
        number: format of the numbers.
    """
    return "echarts_timeseries_bar", {
        "x_axis": name,
        "xAxisForceCategorical": True,
        "x_axis_sort": metric,
        "x_axis_sort_asc": True,
        "metrics": [metric],
        "groupby": [],
        "adhoc_filters": [],
        "orientation": "horizontal",
        "order_desc": True,
        "row_limit": _BARS,
        "y_axis_format": _on_axis(number),
        "show_legend": False,
        "show_value": True,
        "rich_tooltip": True,
        "truncate_metric": True,
    }


def big_number(metric: str, *, number: str) -> Settings:
    """Return one number, large.

    Args:
        number: its format.
    """
    return "big_number_total", {
        "metric": metric,
        "adhoc_filters": [],
        "header_font_size": 0.4,
        "y_axis_format": number,
    }


def rows(columns: Sequence[str], newest: str | None = None) -> Settings:
    """Return a table of rows as they are.

    Args:
        newest: a column of times: the newest rows come first.
    """
    order = [f'["{newest}", false]'] if newest else []
    return "table", {
        "query_mode": "raw",
        "all_columns": list(columns),
        "order_by_cols": order,
        "adhoc_filters": [],
        "row_limit": _ROWS,
        "page_length": 20,
        "table_timestamp_format": _CLOCK,
        "show_cell_bars": False,
    }


def _on_axis(number: str) -> str:
    """Return a format without zeros at the end: ticks are 50,000 and not 50,000.00."""
    return f"{number[:-1]}~f" if number.endswith("f") else number


def within(column: str) -> Mapping[str, str]:
    """Return the filter that the span of time of a page replaces: without it a chart has none."""
    return {
        "clause": "WHERE",
        "expressionType": "SIMPLE",
        "subject": column,
        "operator": TEMPORAL_RANGE,
        "comparator": _ALWAYS,
    }
