"""Queries of Flink: group windows, clocks, lookups."""

from __future__ import annotations

import re

from sqlglot import exp

from headwater.dialect.group_windows import move_group_windows
from headwater.dialect.syntax import WindowTable
from headwater.dialect.vocabulary import DialectError
from headwater.importing.bodies import Body, QueryScope
from headwater.importing.clock import (
    join_present_rows,
    leave_out_clock_columns,
    refuse_clock,
)
from headwater.importing.contract import LeftOut

_CLOCK = re.compile(
    r"(PROCTIME|NOW|CURRENT_ROW_TIMESTAMP)\s*\(\s*\)|CURRENT_TIMESTAMP|LOCALTIMESTAMP",
    re.IGNORECASE,
)


def is_clock(text: str) -> bool:
    """Whether an expression is the clock."""
    return bool(_CLOCK.fullmatch(text.strip()))


def is_final(query: exp.Query) -> bool:
    """Whether Flink shows rows of a query once they are final: windows, OVER, as-of joins."""
    if query.find(exp.MatchRecognize):
        return True
    if any(table.args.get("version") for table in query.find_all(exp.Table)):
        return True
    windowed = query.find(WindowTable) is not None
    shaped = query.find(exp.Group, exp.Join, exp.Window) is not None
    keys = {
        column.name for group in query.find_all(exp.Group) for column in group.find_all(exp.Column)
    }
    ranked = (exp.RowNumber, exp.Rank, exp.DenseRank)
    over = any(not isinstance(each.this, ranked) for each in query.find_all(exp.Window))
    return (windowed and shaped) or "window_start" in keys or over


# -- rewrites of the tree


def _group_windows(body: Body, scope: QueryScope) -> None:
    try:
        move_group_windows(body.query)
    except DialectError as error:
        raise LeftOut(error.message, error.hint) from error


REWRITES = (leave_out_clock_columns, join_present_rows, _group_windows, refuse_clock)
