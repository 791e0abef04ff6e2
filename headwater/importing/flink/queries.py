"""Queries of Flink: group windows, clocks, lookups."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from headwater.dialect.syntax import WindowTable
from headwater.importing.bodies import Body, Edits, QueryScope
from headwater.importing.clock import (
    join_present_rows,
    leave_out_clock_columns,
    refuse_clock,
)
from headwater.importing.contract import LeftOut
from headwater.importing.statements import Cursor

_GROUP = "group_"
_WINDOWS = {"group_tumble": 1, "group_hop": 2, "group_session": 1}
"""By group window, its number of intervals; the edit puts the prefix there."""
_PARTS = {
    "start": "window_start",
    "end": "window_end",
    "rowtime": "window_end - INTERVAL '1' MILLISECOND",
}
_AUXILIARY = re.compile(r"(tumble|hop|session)_(start|end|rowtime|proctime)")
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


# -- edits of the text


def _window_calls(cursor: Cursor, edits: Edits, marks: dict[str, Any]) -> None:
    """Rename ``TUMBLE(ts, …)`` outside of FROM: it is a group, not a table."""
    for at, token in enumerate(cursor.tokens):
        word = token.text.upper()
        if word not in ("TUMBLE", "HOP", "SESSION") or token.token_type is TokenType.IDENTIFIER:
            continue
        before = [each.text.upper() for each in cursor.tokens[max(0, at - 2) : at]]
        following = cursor.tokens[at + 1 : at + 2]
        called = bool(following) and following[0].token_type is TokenType.L_PAREN
        if called and before != ["TABLE", "("] and before[-1:] not in (["FROM"], ["JOIN"]):
            edits.replace(token.start, token.end + 1, _GROUP + word.lower())


EDITS = (_window_calls,)


# -- rewrites of the tree


def _group_windows(body: Body, scope: QueryScope) -> None:
    """Turn ``GROUP BY TUMBLE(ts, …)`` into a window in FROM."""
    for select in reversed(list(body.query.find_all(exp.Select))):  # the inner ones first
        group = select.args.get("group")
        if isinstance(group, exp.Group):
            for call in [each for each in group.expressions if _is_window(each)][:1]:
                _group_window(select, group, call)


def _is_window(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name in _WINDOWS


def _group_window(select: exp.Select, group: exp.Group, call: exp.Expr) -> None:
    kind, (time, *intervals) = call.name, call.expressions
    if not isinstance(time, exp.Column) or len(intervals) < _WINDOWS[kind]:
        reason = f"the group window {kind.upper()} has no column as its time"
        raise LeftOut(reason, "write TUMBLE in FROM")
    source = _windowed(select, time)
    keys = [each.copy() for each in group.expressions if each is not call]
    name = source.alias_or_name or "w"
    relation = source.copy()
    relation.set("alias", None)
    sessions = kind.endswith("session")
    window = WindowTable(
        kind=kind.removeprefix(_GROUP),
        this=relation,
        time=exp.column(time.name),
        size=intervals[_WINDOWS[kind] - 1],
        slide=intervals[0] if kind.endswith("hop") else None,
        partition_by=[exp.column(each.name) for each in keys] if sessions and keys else None,
    )
    alias = exp.TableAlias(this=exp.to_identifier(name))
    source.replace(exp.Table(this=window, alias=alias))
    found = [exp.column("window_start"), exp.column("window_end")]
    group.set("expressions", [*keys, *found])
    for node in list(select.find_all(exp.Anonymous)):
        part = _AUXILIARY.fullmatch(node.name)
        if part and part[2] in _PARTS:
            node.replace(exp.maybe_parse(_PARTS[part[2]]))


def _windowed(select: exp.Select, time: exp.Column) -> exp.Expr:
    """Return the relation in FROM that has the time."""
    first: exp.Expr = select.args["from_"].this
    joins = select.args.get("joins") or []
    if not joins:
        return first
    relations: list[exp.Expr] = [first, *(join.this for join in joins)]
    for each in relations:
        if time.table and each.alias_or_name == time.table:
            return each
    reason = "a group window over a join does not say whose time it is"
    raise LeftOut(reason, "write TUMBLE in FROM")


REWRITES = (leave_out_clock_columns, join_present_rows, _group_windows, refuse_clock)
