"""``CREATE STREAMING VIEW`` → :class:`~headwater.analyze.definitions.View`.

In: the statement and the catalog of what it may read. Out: a view with a bound query, or errors.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.nodes import Malformed
from headwater.algebra.passes import passed
from headwater.algebra.properties.keys import key_of
from headwater.analyze.bind.ctes import inline_ctes
from headwater.analyze.bind.grouping_sets import expand_grouping_sets
from headwater.analyze.bind.named_windows import write_out_windows
from headwater.analyze.bind.query import QueryBinder
from headwater.analyze.connectors.options import bind_options
from headwater.analyze.connectors.registry import VIEW_OPTIONS
from headwater.analyze.ddl.column_lists import name_columns, without_comments
from headwater.analyze.definitions import Catalog, Emit, LateRows, OnError, View
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.outputs import refuse_repeated
from headwater.analyze.names.ordering import limited_unions
from headwater.analyze.relational import Unread, algebra_of
from headwater.analyze.rules import bound_rules, syntax_rules
from headwater.analyze.rules.allowed_syntax import drop_comments, only_allowed
from headwater.analyze.rules.contract import Checked
from headwater.analyze.rules.read_clauses import lost_tables, number_tables, unread_arguments
from headwater.analyze.shapes.bracketed_joins import without_brackets
from headwater.analyze.shapes.constant_queries import without_constants
from headwater.analyze.shapes.distinct_windows import without_distinct_windows
from headwater.analyze.shapes.first_rows import plain_first_rows
from headwater.analyze.shapes.generated_rows import generate_in_from
from headwater.analyze.shapes.lateral_unnest import without_lateral_unnest
from headwater.analyze.shapes.ordered_values import without_orders
from headwater.analyze.shapes.orders import ask_below_qualify, plain_orders
from headwater.analyze.shapes.percentiles import without_percentiles
from headwater.analyze.shapes.pivots import without_pivots
from headwater.analyze.shapes.quantified import without_quantifiers
from headwater.analyze.shapes.semi_joins import without_semi_joins
from headwater.analyze.shapes.tuples import without_tuples
from headwater.analyze.shapes.unnested_subqueries import without_unnested_subqueries
from headwater.analyze.shapes.zones import without_zones
from headwater.analyze.time.clock import has_clock, reads_clock, with_clock
from headwater.analyze.time.dated import date_comparisons
from headwater.analyze.time.event_time import interval
from headwater.analyze.time.passed_on import passed_on
from headwater.analyze.time.versions import is_as_of
from headwater.dialect import syntax, to_sql


def bind_view(
    statement: syntax.CreateStreamingView,
    catalog: Catalog,
    broken: frozenset[str],
    report: Diagnostics,
) -> View | None:
    """Bind and check one view.

    Args:
        statement: as parsed; its tables get numbers, which its text does not show.
        broken: names that are defined but have errors of their own.

    Returns:
        The view, or None if it or something it reads has errors.
    """
    syntax_rules.names_given(statement, report)
    unread_arguments(statement, report)
    number_tables(statement.expression)
    shaped = statement.copy()
    shaped.set("expression", limited_unions(shaped.expression))
    without_brackets(shaped.expression)
    without_pivots(shaped.expression, report)
    without_lateral_unnest(shaped.expression)
    without_semi_joins(shaped.expression, report)
    generate_in_from(shaped.expression, report)
    ask_below_qualify(shaped.expression)
    plain_first_rows(shaped.expression, report)
    ordered = plain_orders(shaped.expression)
    for rule in syntax_rules.RULES:
        rule(shaped, report)
    query = shaped.expression.copy()
    drop_comments(query)
    options = bind_options(statement.args.get("options"), VIEW_OPTIONS, "a view", statement, report)
    if not inline_ctes(query, report):
        return None
    if not write_out_windows(query, report):
        return None
    without_distinct_windows(query)
    without_unnested_subqueries(query)
    without_constants(query)
    without_quantifiers(query, report)
    without_tuples(query, report)
    without_percentiles(query, report)
    without_orders(query)
    without_zones(query, report)
    query = limited_unions(expand_grouping_sets(query, report))
    late, on_error = _late_rows(statement, report), _on_error(statement)
    emit = Emit(statement.args["emit"]) if statement.args.get("emit") else None
    drops = late is not None and not late.accept
    clocked, report.clock = reads_clock(query), has_clock(query, catalog)
    needs_time = emit is Emit.ON_WINDOW_CLOSE or drops or clocked
    if clocked:
        with_clock(query, catalog, report)

    def below(read: View) -> exp.Query | None:
        return passed_on(read, catalog, on_error) if needs_time else None

    binder = QueryBinder(catalog, broken, report, below)
    fields = binder.bind(query)
    if report.errors or binder.tainted:
        return None
    date_comparisons(query, catalog)
    fields = name_columns(statement, query, fields, report)
    refuse_repeated(query, report)
    if report.errors:
        return None
    only_allowed(query, report)
    lost_tables(statement.expression, query, report)
    view = View(
        name=statement.this.name,
        query=query,
        fields=fields,
        inputs=tuple(binder.inputs),
        emit=emit,
        late=late,
        primary_key=tuple(key.name for key in statement.args.get("primary_key") or []),
        partitioned_by=tuple(key.copy() for key in statement.args.get("partitioned_by") or []),
        comment=statement.text("comment"),
        options=options,
        span=report.place(None),
        text=to_sql(_without_comments(statement)),
        definition=to_sql(statement),
        on_error=on_error,
        reads_all=_reads_all(shaped.expression),
        freshness=_freshness(statement, report),
        ordered=ordered,
        renamed_from=statement.meta.get(syntax.RENAMED_FROM, ""),
    )
    unread = ""
    try:
        view = replace(view, tree=passed(algebra_of(query, catalog)))
    except (Unread, Malformed) as error:
        unread = str(error)
    checked = Checked(view, statement, catalog, report)
    for view_rule in bound_rules.RULES:
        view_rule(checked)
    if unread and not report.errors:
        report.not_yet(unread, None, "write this part as a view of its own")
    return None if report.errors else _with_key(checked)


def _with_key(checked: Checked) -> View | None:
    """The view with what tells its rows apart; None if its PRIMARY KEY does not."""
    view, views = checked.view, checked.catalog.views
    key = key_of(view.tree, lambda name: views[name].key if name in views else None)
    bound_rules.declared_key(checked, key)
    proven = key_of(view.tree, lambda name: views[name].proven_key if name in views else None)
    view = replace(view, key=view.primary_key or key, proven_key=proven)
    return None if checked.report.errors else view


def _on_error(statement: syntax.CreateStreamingView) -> OnError:
    return OnError(str(statement.args.get("on_error") or "quarantine").lower())


def _reads_all(query: exp.Query) -> bool:
    if query.find(exp.Window, exp.Order, exp.Limit) or any(map(is_as_of, query.find_all(exp.Join))):
        return True
    return any(item.is_star for part in query.find_all(exp.Select) for item in part.expressions)


def _without_comments(statement: syntax.CreateStreamingView) -> syntax.CreateStreamingView:
    bare = statement.copy()
    bare.set("comment", None)
    bare.set("columns", without_comments(statement.args.get("columns") or []) or None)
    return bare


def _freshness(statement: syntax.CreateStreamingView, report: Diagnostics) -> timedelta | None:
    node = statement.args.get("freshness")
    if node is None:
        return None
    found = interval(node)
    if found is None:
        hint = "use milliseconds to weeks: months have no fixed length"
        report.add("INVALID_FRESHNESS", "the freshness has no fixed length", node, hint)
    return found


def _late_rows(statement: syntax.CreateStreamingView, report: Diagnostics) -> LateRows | None:
    node = statement.args.get("late")
    if node is None:
        return None
    into = node.args.get("into")
    name = into.name if into is not None else None
    written = node.args.get("allowed")
    if written is None:
        return LateRows(node.args["mode"] == "accept", into=name)
    allowed = interval(written)
    if allowed is None:
        hint = "use microseconds to weeks: months have no fixed length"
        report.add("INVALID_LATE_ROWS", "the allowed lateness has no fixed length", written, hint)
    return LateRows(False, allowed or timedelta(0), name)
