"""What makes a chart readable whatever its numbers are: axes, times, and the digits of numbers.

In: a chart, made here or written by a person, and its dataset. Out: the same chart with the
settings that it leaves open.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headwater.serve.superset.model import Chart, Dataset

_ON_AXES = ("echarts_timeseries", "echarts_area")
"""How the names of the kinds of chart begin that have an axis of numbers."""

_INTEGERS = frozenset(("d", ",d"))

_MARGIN = 30  # pixels between an axis and a title that runs along it: ticks are one line high
_ABOVE = 15  # pixels between the highest tick and a title above the axis
_LEFT = 20  # pixels left of the ticks that Superset itself leaves
_LETTER = 3.5  # pixels that each letter of a centred title takes left of the axis

_CLOCK, _DAY = "%m-%d %H:%M", "%Y-%m-%d"
_OPTIONS = "echart_options"
_SMALL = ",.3~r"  # three digits that say something, where two decimals would say 0.00


def fitted(chart: Chart, dataset: Dataset) -> Chart:
    """Return a chart whose labels have room and whose numbers have the digits of their types.

    What the chart itself sets stays.
    """
    if chart.viz_type == "table":
        own = chart.params.get("column_config") or {}
        found = {**dict(_columns(chart, dataset)), **own}
        return _with(chart, {"column_config": found} if found else {})
    if chart.viz_type.startswith(_ON_AXES):
        options = _axis_options(chart, dataset)
        shown = {_OPTIONS: json.dumps(options)} if options else {}
        clock = _clock(chart, dataset)
        return _with(chart, {**_titles(chart.params), **clock, **shown, **chart.params})
    return chart


def _with(chart: Chart, settings: Mapping[str, Any]) -> Chart:
    return replace(chart, params={**chart.params, **settings})


def _columns(chart: Chart, dataset: Dataset) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the formats of the columns of a table; its metrics have formats of their own."""
    shown = {*(chart.params.get("all_columns") or ()), *(chart.params.get("groupby") or ())}
    for column in dataset.columns:
        if column.name in shown and column.format:
            small = {} if column.format in _INTEGERS else {"d3SmallNumberFormat": _SMALL}
            yield column.name, {"d3NumberFormat": column.format, **small}


def _clock(chart: Chart, dataset: Dataset) -> Mapping[str, str]:
    """Write all times of an axis alike: Superset's own choice mixes 08:58, 09 PM and 2024."""
    for column in dataset.columns:
        if column.is_time and column.name == chart.params.get("x_axis"):
            return {"x_axis_time_format": _DAY if column.type == "DATE" else _CLOCK}
    return {}


def _titles(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Place the titles of the axes where no tick is, however many digits the ticks have."""
    found: dict[str, Any] = {}
    if params.get("x_axis_title"):
        found["x_axis_title_margin"] = _MARGIN
    if params.get("y_axis_title"):
        along = _is_across(params)  # then the axis of numbers is the lower one
        found["y_axis_title_position"] = "Left" if along else "Top"
        found["y_axis_title_margin"] = _MARGIN if along else _ABOVE
    return found


def _axis_options(chart: Chart, dataset: Dataset) -> Mapping[str, Any]:
    """Return what Superset has no setting of its own for, as options of ECharts."""
    params = chart.params
    options: dict[str, Any] = {}
    formats = {metric.name: metric.format for metric in dataset.metrics}
    drawn = params.get("metrics") or []
    if drawn and all(isinstance(each, str) and formats.get(each) in _INTEGERS for each in drawn):
        # otherwise there are ticks at 0.6, 0.8 and 1, and each is written as 1
        options["xAxis" if _is_across(params) else "yAxis"] = {"minInterval": 1}
    half = round(len(params.get("y_axis_title") or "") * _LETTER)
    if half > _LEFT and not _is_across(params):
        options["grid"] = {"left": half}
    return options


def _is_across(params: Mapping[str, Any]) -> bool:
    return params.get("orientation") == "horizontal"
