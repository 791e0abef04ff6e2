"""Datasets, charts and dashboards as inert data, before they take Superset's form.

Made from views (:mod:`datasets`, :mod:`default_charts`), from files (:mod:`chart_files`) and for
the pipeline (:mod:`pipeline`); written by :mod:`bundle`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any


@dataclass(frozen=True, slots=True)
class DatasetColumn:
    """One column of a dataset.

    Attributes:
        name: its name in the table.
        type: its type in Trino.
        is_time: whether it holds times or dates.
        groupable: whether charts may group by it.
        description: what it is, for a person.
        format: of its numbers in tables, as d3 writes it; empty for what is no number or names
            something.
    """

    name: str
    type: str
    is_time: bool = False
    groupable: bool = True
    description: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """An aggregate that charts name.

    Attributes:
        name: unique within the dataset, and no column's name.
        title: for people.
        expression: SQL of Trino.
        format: of the number, as d3 writes it.
        description: what it is, for a person.
    """

    name: str
    title: str
    expression: str
    format: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A table of the lake as charts read it.

    Attributes:
        name: the table, within the namespace.
        description: what its rows are.
        time: the column of the time axis, if it has one.
        columns: its columns, in order.
        metrics: its metrics, in order.
        in_delta: whether it is a Delta table, which Trino has in a catalog of its own.
        sql: its query, if it is no table.
    """

    name: str
    description: str
    time: str | None
    columns: tuple[DatasetColumn, ...]
    metrics: tuple[Metric, ...]
    in_delta: bool = False
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart.

    Attributes:
        name: unique within the project.
        dataset: the table it reads.
        title: what stands above it.
        viz_type: Superset's name of the kind of chart.
        params: Superset's settings of that kind.
        description: a longer text, shown on demand.
        width: in twelfths of the page.
        height: in steps of 8 pixels.
    """

    name: str
    dataset: str
    title: str
    viz_type: str
    params: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    width: int = 6
    height: int = 40


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of charts.

    Attributes:
        slug: the last part of its address, and its name among dashboards.
        title: what stands above it.
        charts: from left to right, then down.
        refresh: seconds after which an open page asks for new rows.
        time_range: what the charts show when the page opens: so long before now, or two dates.
        timed: whether readers can choose another span of time.
    """

    slug: str
    title: str
    charts: tuple[Chart, ...]
    refresh: int
    time_range: timedelta | str | None = None
    timed: bool = False
