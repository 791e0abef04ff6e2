"""The refusals that need only the text: clauses that cannot be run yet, queries without a meaning.

In: a statement as parsed. Out: errors in the report. One rule is one function; :data:`RULES` is
    the order.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics, check_name
from headwater.analyze.time.versions import is_as_of
from headwater.dialect import syntax

Rule = Callable[[syntax.CreateStreamingView, Diagnostics], None]


def unsupported_clauses(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse clauses of CREATE STREAMING VIEW that nothing runs yet."""
    for key, words, hint in (
        ("constraints", "CONSTRAINT", "remove it"),
        ("start_from", "START FROM", "say it in the query: WHERE ts >= TIMESTAMP '2026-01-31'"),
    ):
        if node := statement.args.get(key):
            report.not_yet(words, node[0] if isinstance(node, list) else node, hint)


def limits_without_order(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse LIMIT without ORDER BY."""
    for query in statement.expression.find_all(exp.Query):
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is None and (limit is not None or query.args.get("offset")):
            hint = "say which rows: ORDER BY … LIMIT"
            message = "LIMIT without ORDER BY takes any rows"
            report.add("NON_DETERMINISTIC", message, limit or query.args["offset"], hint)


def set_operations(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse UNION BY NAME."""
    for node in statement.expression.find_all(exp.SetOperation):
        if node.args.get("by_name"):
            words = f"{node.key.upper()} BY NAME"
            report.not_yet(words, node.expression, "write the columns in the same order")


def unsupported_joins(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse the kinds of join that nothing runs yet."""
    for join in statement.expression.find_all(exp.Join):
        kind = " ".join(filter(None, (join.method, join.side, join.kind))).upper()
        if isinstance(join.this, exp.Unnest):
            on = join.args.get("on")
            if join.side and not (join.side == "LEFT" and isinstance(on, exp.Boolean) and on.this):
                hint = "write CROSS JOIN UNNEST, or LEFT JOIN UNNEST … ON true"
                report.not_yet(f"{kind} JOIN UNNEST", join.this, hint)
        elif is_as_of(join):
            continue  # the binder says what it cannot be
        elif join.method not in ("", "NATURAL") or join.kind in ("SEMI", "ANTI"):
            report.not_yet(f"{kind} JOIN", join.this, "write the condition with ON")


def unsupported_tables(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse versions of tables outside as-of joins, and windows that nothing runs yet."""
    for table in statement.expression.find_all(exp.Table):
        versioned = any(table.args.get(key) for key in ("version", "when", "system_time"))
        if versioned and not (isinstance(table.parent, exp.Join) and is_as_of(table.parent)):
            hint = "write FROM t JOIN versions FOR SYSTEM_TIME AS OF t.ts AS v ON t.k = v.k"
            words = "FOR SYSTEM_TIME AS OF without a join"
            if table.args.get("version") and table.args["version"].name != "TIMESTAMP":
                words, hint = "FOR VERSION AS OF in a view", "read the table without a version"
            report.not_yet(words, table, hint)
    for window in statement.expression.find_all(syntax.WindowTable):
        if window.args.get("partition_by") and window.args["kind"] != "session":
            message = "PARTITION BY in a window is for SESSION"
            report.add("UNSUPPORTED_SYNTAX", message, window, "group by the column instead")


def names_given(statement: syntax.CreateStreamingView, report: Diagnostics) -> None:
    """Refuse names for tables and columns inside a query that a user may not define.

    They end up in the SQL of three engines; the system's own names begin with ``_``.
    """
    for column in statement.args.get("columns") or []:
        if column.args.get("comment") is None:  # it names a column anew
            check_name(report, column.name, column.this, "column", words=True)
    for node in statement.expression.find_all(exp.Alias, exp.TableAlias):
        if isinstance(node.parent, exp.Values) and node.name.startswith("_"):
            continue  # named by sqlglot
        if isinstance(node, exp.Alias):
            given = [(node.args["alias"], "column")]
        else:
            given = [(column, "column") for column in node.args.get("columns") or []]
            given += [(node.this, "table")] if node.this is not None else []
        for name, what in given:
            if isinstance(name, exp.Identifier):
                check_name(report, name.name, name, what, words=what == "column")


RULES: tuple[Rule, ...] = (
    unsupported_clauses,
    limits_without_order,
    set_operations,
    unsupported_joins,
    unsupported_tables,
)
