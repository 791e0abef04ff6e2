"""Queries of ksqlDB: windows behind FROM, joins WITHIN a time, columns that every stream has."""

from __future__ import annotations

import re
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from headwater.dialect.syntax import WindowTable
from headwater.importing.bodies import Body, Edits, QueryScope
from headwater.importing.contract import LeftOut
from headwater.importing.functions import UNIX_MILLISECONDS, filled
from headwater.importing.ksqldb.mapping import UNITS, WINDOWS
from headwater.importing.statements import Cursor

_WITHIN = "within_time"
_TABLE_JOIN = (
    "a row is joined with the table as it was then; here it is corrected when the table changes"
)
_JOINED_TIME = "the time of a joined row is that of the first stream, and not the later one"
_BOUNDS = {"windowstart": "window_start", "windowend": "window_end"}


# -- edits of the text


def _emit(cursor: Cursor, edits: Edits, marks: dict[str, Any]) -> None:
    cursor.until("EMIT")
    if cursor:
        marks["final"] = cursor.word(1) == "FINAL"
        edits.drop(cursor)


def _partition(cursor: Cursor, edits: Edits, marks: dict[str, Any]) -> None:
    """Drop ``PARTITION BY`` behind the query: tables of a lake have no partitions of a topic."""
    cursor.until("PARTITION BY", "EMIT")
    if cursor.word().startswith("PARTITION"):
        edits.drop(cursor.until("EMIT"))


def _window(cursor: Cursor, edits: Edits, marks: dict[str, Any]) -> None:
    cursor.until("WINDOW")
    start = cursor.at
    if not cursor.take("WINDOW"):
        return
    kind = cursor.step().text.upper()
    if kind not in WINDOWS:
        cursor.give_up(f"WINDOW {kind} is not known here")
    parts = {"SIZE": "", "ADVANCE BY": "", "RETENTION": "", "GRACE PERIOD": ""}
    for item in cursor.group().items():
        word = item.take_any(*parts)
        parts[word or "SIZE"] = duration(item)
    edits.drop(Cursor(cursor.text, cursor.tokens[start : cursor.at]))
    marks["window"] = (WINDOWS[kind], parts["SIZE"], parts["ADVANCE BY"], parts["GRACE PERIOD"])


def duration(cursor: Cursor) -> str:
    """Read ``10 MINUTES`` as an interval."""
    amount = cursor.step().text
    unit = cursor.step().text.upper().removesuffix("S")
    if unit not in UNITS:
        cursor.at -= 1
        cursor.give_up("a unit of time is expected")
    return f"INTERVAL '{amount}' {UNITS[unit]}"


def _within(cursor: Cursor, edits: Edits, marks: dict[str, Any]) -> None:
    """Turn ``WITHIN 1 HOUR ON`` into ``ON within_time(…) AND``."""
    while cursor:
        cursor.until("WITHIN")
        if not cursor:
            return
        start = cursor.step().start
        if cursor.is_open():
            before, after = (duration(each) for each in cursor.group().items())
        else:
            before = after = duration(cursor)
        if cursor.take("GRACE PERIOD"):
            duration(cursor)
        end = cursor.peek()
        cursor.need("ON")
        assert end is not None
        edits.replace(start, end.end + 1, f"ON {_WITHIN}({before}, {after}) AND")


def _fields(cursor: Cursor, edits: Edits, marks: dict[str, Any]) -> None:
    """Turn ``a->b`` into ``a.b``."""
    for token in cursor.tokens:
        if token.token_type is TokenType.ARROW:
            edits.replace(token.start, token.end + 1, ".")


EDITS = (_emit, _partition, _window, _within, _fields)

# -- rewrites of the tree


def _relations(select: exp.Select) -> list[exp.Expr]:
    start = select.args.get("from_")
    joined = [join.this for join in select.args.get("joins") or ()]
    return [start.this, *joined] if start else []


def _table_joins(body: Body, scope: QueryScope) -> None:
    """Say what differs if a stream is joined with a table."""
    for select in body.query.find_all(exp.Select):
        first, *others = _relations(select) or [exp.Table()]
        if first.name in scope.streams and any(
            isinstance(each, exp.Table) and each.name not in scope.streams for each in others
        ):
            body.remark(_TABLE_JOIN)


def _stars(body: Body, scope: QueryScope) -> None:
    """Write out ``*`` of a join: ksqlDB puts the name of the relation before each column."""
    for select in body.query.find_all(exp.Select):
        relations = _relations(select)
        known = all(each.name in scope.columns for each in relations)
        if len(relations) < 2 or not known:
            continue
        items: list[exp.Expr] = []
        for item in select.expressions:
            if not isinstance(item, exp.Star):
                items.append(item)
                continue
            for each in relations:
                items += [
                    exp.alias_(exp.column(name, each.alias_or_name), f"{each.alias_or_name}_{name}")
                    for name in scope.columns[each.name]
                    if name not in ("rowtime", "rowoffset", "rowpartition")
                ]
        select.set("expressions", items)


def _interval_joins(body: Body, scope: QueryScope) -> None:
    for join in list(body.query.find_all(exp.Join)):
        for call in list(join.find_all(exp.Anonymous)):
            if call.name == _WITHIN:
                left = _left_of(join)
                call.replace(_bounded(left, join.this, call.expressions, scope))


def _left_of(join: exp.Join) -> exp.Expr:
    select = join.parent
    assert isinstance(select, exp.Select)
    relations = _relations(select)
    return relations[[id(each) for each in relations].index(id(join.this)) - 1]


def _bounded(
    left: exp.Expr, right: exp.Expr, bounds: list[exp.Expr], scope: QueryScope
) -> exp.Expr:
    before, after = bounds
    here = exp.column(time_of(left, scope), left.alias_or_name)
    there = exp.column(time_of(right, scope), right.alias_or_name)
    return exp.Between(
        this=there,
        low=exp.Sub(this=here.copy(), expression=before.copy()),
        high=exp.Add(this=here.copy(), expression=after.copy()),
    )


def time_of(relation: exp.Expr, scope: QueryScope) -> str:
    """Return the column with the event time of a relation."""
    found = scope.times.get(relation.name)
    if found is None and relation.name not in scope.columns:
        raise LeftOut(f'"{relation.name}" is not defined before this', "name the files in order")
    if found is None:
        reason = f'"{relation.alias_or_name}" has no event time here'
        raise LeftOut(reason, "show its rowtime in the view that defines it")
    return found


def _windows(body: Body, scope: QueryScope) -> None:
    """Put the window around the first relation of FROM."""
    window = body.marks.get("window")
    select = body.query
    if window is None or not isinstance(select, exp.Select):
        return
    kind, size, advance, _ = window
    relation, *others = _relations(select)
    if not isinstance(relation, exp.Table):
        raise LeftOut("the window is over a subquery", "define a stream for it")
    if any(each.name in scope.streams for each in others):
        body.remark(_JOINED_TIME)
    group = select.args.get("group")
    keys = [each.copy() for each in group.expressions] if group else []
    table = exp.Table(
        this=WindowTable(
            kind=kind,
            this=exp.Table(this=relation.this.copy()),
            time=exp.column(time_of(relation, scope)),
            size=_interval(size),
            slide=_interval(advance) if kind == "hop" else None,
            partition_by=[exp.column(each.name) for each in keys]
            if kind == "session" and all(isinstance(each, exp.Column) for each in keys)
            else None,
        ),
        alias=exp.TableAlias(this=exp.to_identifier(relation.alias_or_name)),
    )
    relation.replace(table)
    bounds = [exp.column("window_start"), exp.column("window_end")]
    if group:
        group.set("expressions", [*keys, *bounds])
    shown = {item.unalias().name for item in select.expressions}
    for bound in bounds if group else ():
        if bound.name not in shown:
            select.append("expressions", bound.copy())


def _interval(text: str) -> exp.Expr:
    found = re.fullmatch(r"INTERVAL '(\d+)' (\w+)", text)
    if not found:
        raise LeftOut("the window has no size", "write SIZE")
    return exp.Interval(this=exp.Literal.string(found[1]), unit=exp.var(found[2]))


def _pseudo_columns(body: Body, scope: QueryScope) -> None:
    """Name the columns that every stream has as they are called here."""
    for column in list(body.query.find_all(exp.Column)):
        if column.name in _BOUNDS:
            name = _BOUNDS[column.name]
            body.remark(f"{column.name.upper()} is a time here, milliseconds there")
            if column.parent is column.find_ancestor(exp.Select):
                column.replace(exp.alias_(exp.column(name), column.name))
            else:
                column.replace(exp.column(name))
        elif column.name in ("rowtime", "rowoffset", "rowpartition"):
            _pseudo(body, scope, column)


def _pseudo(body: Body, scope: QueryScope, column: exp.Column) -> None:
    select = column.find_ancestor(exp.Select)
    relations = _relations(select) if select else []
    own = [each for each in relations if column.table in ("", each.alias_or_name)]
    if not own:
        return
    relation = own[0]
    name = relation.this.this.name if _is_windowed(relation) else relation.name
    if column.name == "rowtime":
        time = scope.times.get(name, "rowtime")
        if time != "rowtime":
            shown = column.parent is select
            time_column = exp.column(time, column.table or None)
            column.replace(exp.alias_(time_column, "rowtime") if shown else time_column)
            column = time_column
        if _is_number(column):
            column.replace(filled(UNIX_MILLISECONDS, [column]))
        else:
            body.remark("ROWTIME is a time here, milliseconds there")
    elif name in scope.base:
        scope.wanted.setdefault(name, set()).add(column.name)
    else:
        body.remark(f"{column.name.upper()} is not known here; the event time stands in its place")
        column.replace(exp.column(scope.times.get(name, "rowtime"), column.table or None))


def _is_number(column: exp.Expr) -> bool:
    """Whether a time is calculated with."""
    above = column.parent
    while isinstance(above, exp.Paren):
        above = above.parent
    return isinstance(above, exp.Sub | exp.Add | exp.Mul | exp.Div | exp.Mod)


def _is_windowed(relation: exp.Expr) -> bool:
    return isinstance(relation, exp.Table) and isinstance(relation.this, WindowTable)


def _texts(body: Body, scope: QueryScope) -> None:
    """Turn ``'a' + b`` into ``'a' || b``."""
    for node in reversed(list(body.query.find_all(exp.Add))):
        if any(_is_text(each) for each in (node.this, node.args["expression"])):
            node.replace(
                exp.DPipe(this=node.this.copy(), expression=node.args["expression"].copy())
            )


def _is_text(node: exp.Expr) -> bool:
    to_text = isinstance(node, exp.Cast) and node.to.this is exp.DType.VARCHAR
    return node.is_string or to_text or isinstance(node, exp.DPipe)


def _constant_groups(body: Body, scope: QueryScope) -> None:
    """Leave out ``GROUP BY 'X'``: all rows are one group."""
    for select in body.query.find_all(exp.Select):
        group = select.args.get("group")
        if isinstance(group, exp.Group) and all(each.is_string for each in group.expressions):
            group.pop()


def _explosions(body: Body, scope: QueryScope) -> None:
    """Turn ``SELECT EXPLODE(xs) AS x`` into ``CROSS JOIN UNNEST(xs) AS u(x)``."""
    for select in body.query.find_all(exp.Select):
        for number, item in enumerate(list(select.expressions), 1):
            inner = item.unalias()
            if not (isinstance(inner, exp.Explode) or inner.name.lower() == "explode"):
                continue
            if not isinstance(inner, exp.Explode | exp.Anonymous):
                continue
            array = inner.this if isinstance(inner, exp.Explode) else inner.expressions[0]
            name, alias = item.alias or "explode", f"u{number}"
            unnest = exp.Unnest(
                expressions=[array.copy()],
                alias=exp.TableAlias(
                    this=exp.to_identifier(alias), columns=[exp.to_identifier(name)]
                ),
            )
            select.append("joins", exp.Join(this=unnest, kind="CROSS"))
            item.replace(exp.alias_(exp.column(name, alias), name))


def _keep_time(body: Body, scope: QueryScope) -> None:
    """Show the event time of a stream that is made of another one."""
    query = body.query
    if not isinstance(query, exp.Select) or query.args.get("group"):
        return
    if any(each.find(exp.AggFunc) for each in query.expressions):
        return
    relations = _relations(query)
    if not relations or relations[0].name not in scope.streams:
        return
    names = {each.alias_or_name for each in query.expressions}
    stars = any(each.is_star for each in query.expressions)
    if any(each.name in scope.streams for each in relations[1:]):
        body.remark(_JOINED_TIME)
    time = scope.times.get(relations[0].name)
    if time and time not in names and "rowtime" not in names and not stars:
        column = exp.column(time, relations[0].alias_or_name)
        query.append("expressions", column if time == "rowtime" else exp.alias_(column, "rowtime"))


REWRITES = (
    _explosions,
    _texts,
    _constant_groups,
    _table_joins,
    _stars,
    _pseudo_columns,
    _interval_joins,
    _keep_time,
    _windows,
)
