"""Where charts stand on a dashboard.

In: a dashboard. Out: Superset's tree of its page: rows of twelve columns, filled from the left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headwater.serve.superset.model import Chart, Dashboard

_COLUMNS = 12


def position(dashboard: Dashboard, uuids: Sequence[str]) -> dict[str, Any]:
    """Return the page of a dashboard.

    Args:
        uuids: of the charts, in the same order.
    """
    known = dict(zip((chart.name for chart in dashboard.charts), uuids, strict=True))
    page: dict[str, Any] = {"DASHBOARD_VERSION_KEY": "v2"}
    above = ["ROOT_ID", "GRID_ID"]
    rows = list(_rows(dashboard.charts))
    names = [f"ROW-{number}" for number in range(1, len(rows) + 1)]
    page["ROOT_ID"] = {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]}
    page["GRID_ID"] = {
        "id": "GRID_ID", "type": "GRID", "parents": above[:1], "children": names,
    }  # fmt: skip
    page["HEADER_ID"] = {
        "id": "HEADER_ID", "type": "HEADER", "meta": {"text": dashboard.title},
    }  # fmt: skip
    for name, row in zip(names, rows, strict=True):
        page[name] = {
            "id": name,
            "type": "ROW",
            "meta": {"background": "BACKGROUND_TRANSPARENT"},
            "parents": above,
            "children": [f"CHART-{chart.name}" for chart in row],
        }
        for chart in row:
            page[f"CHART-{chart.name}"] = {
                "id": f"CHART-{chart.name}",
                "type": "CHART",
                "meta": {
                    "uuid": known[chart.name],
                    "chartId": list(known).index(chart.name) + 1,  # the import puts its own here
                    "sliceName": chart.title,
                    "width": chart.width,
                    "height": chart.height,
                },
                "parents": [*above, name],
                "children": [],
            }
    return page


def _rows(charts: Sequence[Chart]) -> Iterator[list[Chart]]:
    """Cut the charts into rows that are not wider than the page."""
    row: list[Chart] = []
    for chart in charts:
        if row and sum(each.width for each in row) + chart.width > _COLUMNS:
            yield row
            row = []
        row.append(chart)
    if row:
        yield row
