"""The refusals: what cannot obey the law is said here, with a place and a way out.

In: a bound view. Out: errors in the report. One rule is one function; :data:`RULES` is the order
in which they run. :mod:`headwater.analyze.rules.syntax_rules` refuses what needs no binding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from headwater.analyze.definitions import Catalog, ChangelogMode, Emit, Field, Source
from headwater.analyze.diagnostics import Diagnostics, check_name
from headwater.analyze.query_parts import (
    first_aggregate,
    is_aggregate,
    is_distinct,
    relations,
    selects,
    union_branches,
)
from headwater.analyze.rules.changelog import ChangelogModes, effective_emit
from headwater.analyze.rules.contract import Checked
from headwater.analyze.rules.delta_limits import delta_views
from headwater.analyze.rules.map_values import comparable_maps, rows_in_subqueries
from headwater.analyze.rules.recomputed import recomputed_queries
from headwater.analyze.rules.row_patterns import row_patterns
from headwater.analyze.time.finality import Finality, relation_times
from headwater.analyze.time.joins import JoinTimes, join_times
from headwater.analyze.time.settling import Unsettled
from headwater.analyze.typing import types as t
from headwater.dialect import syntax, to_sql
from headwater.dialect.vocabulary import is_unnamed
from headwater.errors.nearest import did_you_mean

Rule = Callable[[Checked], None]


def storable_columns(checked: Checked) -> None:
    """Refuse columns that a table cannot hold, and names that are the system's."""
    for at, field in zip(checked.outputs, checked.view.fields, strict=True):
        if not is_unnamed(field.name):
            check_name(checked.report, field.name, at, "column", words=True)
        if any(kind.this is t.Type.NULL for kind in field.type.find_all(exp.DataType)):
            hint = "give it a type: CAST(NULL AS VARCHAR)"
            checked.report.add("UNSUPPORTED_TYPE", f'column "{field.name}" has no type', at, hint)
        elif field.type.this is t.Type.INTERVAL:
            between = at.unalias().unnest()
            ends = "a, b"
            if isinstance(between, exp.Sub):
                ends = ", ".join(to_sql(each) for each in (between.expression, between.this))
            hint = f"use date_diff('second', {ends}), or extract(epoch FROM x) of other dialects"
            message = f'column "{field.name}" is an interval, which tables do not hold'
            checked.report.add("UNSUPPORTED_TYPE", message, at, hint)


def partition_columns(checked: Checked) -> None:
    """Refuse partition transforms over columns that are not there or not of their type."""
    fields = {field.name: field for field in checked.view.fields}
    for node in checked.statement.args.get("partitioned_by") or []:
        for column in node.find_all(exp.Column):
            field = fields.get(column.name)
            if field is None:
                hint = did_you_mean(column.name, fields, "columns")
                message = f'column "{column.name}" of PARTITIONED BY does not exist'
                checked.report.add("UNKNOWN_COLUMN", message, column, hint)
            elif isinstance(node, exp.Anonymous):
                _check_transform(node, field, checked.report)


def _check_transform(node: exp.Anonymous, field: Field, report: Diagnostics) -> None:
    family = t.family(field.type)
    timed = node.name in ("hour", "day", "month", "year")
    fits = family == "time" if timed else not t.is_float(field.type) and family != "boolean"
    if node.name == "hour" and field.type == t.DATE:
        fits = False
    if not fits:
        message = f"{node.name}({field.name}) does not work on {t.sql_type(field.type)}"
        report.add("TYPE_CLASH", message, node, "partition by a column of another type")


def declared_key(checked: Checked, inferred: Sequence[str] | None) -> None:
    """Refuse a PRIMARY KEY whose columns are not there or do not identify the rows.

    Args:
        inferred: the key that follows from the query, if one does.
    """
    names = [field.name for field in checked.view.fields]
    for node in checked.statement.args.get("primary_key") or []:
        if node.name not in names:
            hint = did_you_mean(node.name, names, "columns")
            message = f'column "{node.name}" of PRIMARY KEY does not exist'
            checked.report.add("UNKNOWN_COLUMN", message, node, hint)
            return
    declared = checked.view.primary_key
    if declared and inferred and not set(inferred) <= set(declared):
        missing = ", ".join(name for name in inferred if name not in declared)
        message = f"PRIMARY KEY does not identify a row: {missing} differs too"
        node = checked.statement.args["primary_key"][0]
        hint = f"write PRIMARY KEY ({', '.join(inferred)}) or leave it out"
        checked.report.add("INVALID_PRIMARY_KEY", message, node, hint)


def joins_bounded_in_time(checked: Checked) -> None:
    """Refuse joins of streams that compare no event times on both ends; tables may do without."""
    emit = effective_emit(checked.view, checked.catalog)
    if checked.view.query.find(syntax.RecursiveRows):
        return  # recomputed_queries says what it cannot be over
    if emit is Emit.CHANGES and all(source.kept for source in _sources(checked)):
        return
    for select in selects(checked.view.query):
        for found in join_times(select, checked.catalog):
            if found.as_of and not all(source.kept for source in _sources(checked)):
                hint = "land both inputs: CREATE TABLE instead of SOURCE"
                checked.report.not_yet("an as-of join of a SOURCE", found.join.this, hint)
            elif not found.closed:
                _refuse_unbounded_join(found, checked)
            elif found.join.side and emit is Emit.CHANGES:
                hint = "write EMIT ON WINDOW CLOSE, or CREATE TABLE instead of SOURCE"
                words = "LEFT JOIN of a SOURCE with EMIT CHANGES"
                checked.report.not_yet(words, found.join.this, hint)


def _refuse_unbounded_join(found: JoinTimes, checked: Checked) -> None:
    if not checked.bounded:
        return
    hint = "bound it on both ends: AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR"
    if not found.timed:
        hint = "declare WATERMARK FOR ts AS … in both sources, then " + hint
    message = "the join keeps every row forever: it does not bound the time between two events"
    if not found.join.args.get("on"):
        message = "a join without a condition keeps every row forever"
    checked.report.add("UNBOUNDED_STATE", message, found.join.this, hint)


def final_rows(checked: Checked) -> None:
    """Refuse a view over tables that waits for its rows to be final, where they never are."""
    view, modes = checked.view, ChangelogModes(checked.catalog)
    if view.emit is not Emit.ON_WINDOW_CLOSE or view.options.get("engine") == "full":
        return
    if view.query.find(syntax.PatternRows, syntax.RecursiveRows):
        return  # row_patterns and recomputed_queries say it
    if not all(source.kept for source in _sources(checked)):
        return
    if any(modes.named(name) is not ChangelogMode.APPEND for name in view.inputs):
        return  # the planner says which input is corrected
    joined = (each for one in selects(view.query) for each in join_times(one, checked.catalog))
    if not all(each.closed for each in joined):
        return  # joins_bounded_in_time says it
    finality = Finality(checked.catalog)
    for branch in union_branches(view.query):
        found = finality.settled(branch)
        if isinstance(found, Unsettled) and not _refuse_timeless_window(branch, checked):
            checked.report.add("UNBOUNDED_STATE", found.what, found.at, found.hint)


def closing_windows(checked: Checked) -> None:
    """Refuse aggregates of a SOURCE without a window that closes."""
    close = checked.view.emit is Emit.ON_WINDOW_CLOSE
    streams = [source.name for source in _sources(checked) if not source.kept]
    if not streams or not checked.bounded:
        return
    for select in selects(checked.view.query):
        if not is_aggregate(select) or not (close or select.args.get("group")):
            continue
        if _groups_by_window(select, checked.catalog) or _refuse_timeless_window(select, checked):
            continue
        if close:
            message = "nothing says when a group is final: no window is among the group keys"
            at = select.args.get("group") or first_aggregate(select)
            hint = "group by date_trunc('hour', ts), or write EMIT CHANGES"
        else:
            message = f'the groups grow without end: "{streams[0]}" is a SOURCE, which has no table'
            at = select.args["group"]
            hint = "group by a window of event time, or CREATE TABLE instead of SOURCE"
        checked.report.add("UNBOUNDED_STATE", message, at, hint)


def _refuse_timeless_window(select: exp.Select, checked: Checked) -> bool:
    """Refuse a window of a SELECT whose time has no watermark; return whether there is one."""
    for relation in relations(select):
        window = relation.this if isinstance(relation, exp.Table) else None
        if not isinstance(window, syntax.WindowTable):
            continue
        column = window.args["time"].name
        if column in relation_times(relation, checked.catalog):
            continue
        hint = f"declare WATERMARK FOR {column} AS {column} - INTERVAL '10' SECOND in its source"
        message = f'the window never closes: "{column}" has no watermark'
        if view := checked.catalog.views.get(window.this.name):
            message = f"the window never closes: rows of view {view.name} do not say when they came"
            hint = f"count over the tables that {view.name} reads, or write EMIT CHANGES"
        checked.report.add("UNBOUNDED_STATE", message, window.args["time"], hint)
        return True
    return False


def _groups_by_window(select: exp.Select, catalog: Catalog) -> bool:
    group = select.args.get("group")
    keys = group.expressions if group else []
    bounds = {
        (relation.alias_or_name, name)
        for relation in relations(select)
        for name, time in relation_times(relation, catalog).items()
        if time.kind != "time"
    }
    return any(isinstance(key, exp.Column) and (key.table, key.name) in bounds for key in keys)


def bounded_distinct(checked: Checked) -> None:
    """Refuse DISTINCT straight from a SOURCE without an event time among its columns."""
    if not checked.bounded or all(source.kept for source in _sources(checked)):
        return
    for select in selects(checked.view.query):
        if not is_distinct(select) or is_aggregate(select):
            continue
        times = {
            (relation.alias_or_name, name)
            for relation in relations(select)
            for name in relation_times(relation, checked.catalog)
        }
        columns = (item.unalias() for item in select.selects)
        if not any(isinstance(c, exp.Column) and (c.table, c.name) in times for c in columns):
            hint = "select the event-time column too, or CREATE TABLE instead of SOURCE"
            message = "DISTINCT remembers every row forever"
            checked.report.add("UNBOUNDED_STATE", message, select.args["distinct"], hint)


def late_rows_need_a_watermark(checked: Checked) -> None:
    """Refuse LATE ROWS where no row can be late, and INTO where one table cannot keep them."""
    node = checked.statement.args.get("late")
    if node is None:
        return
    if not any(source.watermark for source in _sources(checked)):
        hint = "declare WATERMARK FOR ts AS ts - INTERVAL '10' SECOND in its source"
        message = "no row is ever late: no input has a watermark"
        checked.report.add("INVALID_LATE_ROWS", message, node, hint)
    timed = [source for source in _sources(checked) if source.watermark]
    kinds = {source.name: [(c.name, c.type) for c in source.columns] for source in timed}
    if checked.view.late and checked.view.late.into and len(set(map(repr, kinds.values()))) > 1:
        hint = "leave INTO out: late rows are counted all the same"
        message = f"{' and '.join(kinds)} have different columns, and share no table of late rows"
        checked.report.add("INVALID_LATE_ROWS", message, node, hint)


def _sources(checked: Checked) -> list[Source]:
    sources = checked.catalog.sources
    return [sources[name] for name in checked.view.inputs if name in sources]


RULES: tuple[Rule, ...] = (
    storable_columns,
    partition_columns,
    row_patterns,
    recomputed_queries,
    joins_bounded_in_time,
    final_rows,
    closing_windows,
    bounded_distinct,
    late_rows_need_a_watermark,
    delta_views,
    comparable_maps,
    rows_in_subqueries,
)
