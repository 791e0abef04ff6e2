"""The nodes that Headwater adds to sqlglot's syntax tree.

In: nothing. Out: classes that the parser makes, the generator prints and the binder reads. Queries
are sqlglot's own nodes; only statements, their clauses and window table functions are ours.
"""

from __future__ import annotations

from sqlglot import exp

GIVEN = "given"
"""Key of ``meta`` of a function call: how many arguments it was written with."""
FUNCTION = "function"
"""Key of ``meta`` of a node that a call of a user function became: the name of the function."""
DIALECT = "dialect"
"""Key of ``meta`` of a call by name that is not written in Trino's dialect: the dialect."""
SHOWN = "shown"
"""Key of ``meta`` of what stands for something else: how a message shows it."""
BY_PATTERN = "by_pattern"
"""Key of ``meta`` of a cast to a time whose text a pattern has checked: it is no ``'now'``."""
CONVERSION = "conversion"
"""Key of ``meta`` of a cast that may only convert as an assignment does: what it converts."""

IN_QUOTES = "in quotes"
"""Key of ``meta`` of a name that stands in double quotes: the name as it is written."""
RENAMED_FROM = "renamed from"
"""Key of ``meta`` of a view: the name that it had, as a comment before it says."""


class CreateSource(exp.Expression):
    """``CREATE SOURCE`` (``kept`` is False) or a landed ``CREATE TABLE`` (``kept`` is True)."""

    arg_types = {
        "this": True,
        "kept": True,
        "replace": False,
        "exists": False,
        "columns": False,
        "primary_key": False,
        "watermark": False,
        "comment": False,
        "options": False,
        "format": False,
        "encode": False,
        "encode_options": False,
        "on_error": False,
        "on_schema_change": False,
        "start_from": False,
    }


class SourceColumn(exp.Expression):
    """A column of a source: ``name type [FROM 'field'] [NOT NULL] …`` or ``name AS expr``.

    ``METADATA FROM 'key'`` stands in the place of FROM. Either may end in ``COMMENT 'text'``;
    ``field`` and ``comment`` are a str.
    """

    arg_types = {
        "this": True,
        "kind": False,
        "field": False,
        "not_null": False,
        "computed": False,
        "metadata": False,
        "comment": False,
    }


class WatermarkClause(exp.Expression):
    """``WATERMARK FOR column AS …``: no delay and not adaptive means monotonic."""

    arg_types = {"this": True, "delay": False, "adaptive": False, "idle_timeout": False}


class AdaptiveWatermark(exp.Expression):
    """``ADAPTIVE (PERCENTILE p, MIN interval, MAX interval)``."""

    arg_types = {"percentile": False, "min": False, "max": False}


class OptionClause(exp.Expression):
    """One ``name = value`` of a ``WITH`` or ``ENCODE`` list; ``this`` is the name as a str."""

    arg_types = {"this": True, "expression": True}


class CreateStreamingView(exp.Expression):
    """``CREATE STREAMING VIEW … AS query [EMIT …]``."""

    arg_types = {
        "this": True,
        "replace": False,
        "exists": False,
        "columns": False,
        "primary_key": False,
        "constraints": False,
        "comment": False,
        "partitioned_by": False,
        "freshness": False,
        "late": False,
        "start_from": False,
        "on_error": False,
        "options": False,
        "expression": True,
        "emit": False,
    }


class ViewColumn(exp.Expression):
    """``name [COMMENT 'text']`` of a view's list; ``comment`` is a str."""

    arg_types = {"this": True, "comment": False}


class ViewConstraint(exp.Expression):
    """``CONSTRAINT name CHECK (condition) [ON VIOLATION action]``."""

    arg_types = {"this": True, "expression": True, "on_violation": False}


class LateRowsClause(exp.Expression):
    """``LATE ROWS {DROP | ACCEPT [FOR interval]} [INTO name]``; ``mode`` is lower case."""

    arg_types = {"mode": True, "allowed": False, "into": False}


class StartFromClause(exp.Expression):
    """``START FROM``; ``kind`` is ``earliest``, ``latest``, ``timestamp`` or ``offsets``."""

    arg_types = {"kind": True, "this": False}


class CreateSink(exp.Expression):
    """``CREATE SINK name FROM view WITH (…)``."""

    arg_types = {
        "this": True,
        "view": True,
        "replace": False,
        "exists": False,
        "options": False,
        "format": False,
        "encode": False,
        "encode_options": False,
    }


class DropStatement(exp.Expression):
    """``DROP kind [IF EXISTS] name``; ``kind`` is lower case, for example ``streaming view``."""

    arg_types = {"kind": True, "this": True, "exists": False}


class CreateFunction(exp.Expression):
    """``CREATE FUNCTION name (parameters) RETURNS type [LANGUAGE {PYTHON | SQL}] …``.

    The body is a string (``body``: ``AS $$…$$``) or an SQL expression (``expression``: ``RETURN
    …``), whose language is SQL.
    """

    arg_types = {
        "this": True,
        "replace": False,
        "exists": False,
        "parameters": False,
        "returns": True,
        "language": False,
        "options": False,
        "body": False,
        "expression": False,
    }


class WindowTable(exp.Expression):
    """A window table function in ``FROM``: ``TUMBLE``, ``HOP``, ``CUMULATE`` or ``SESSION``.

    ``this`` is the input (a table or a subquery), ``time`` its event-time column, ``size`` the
    width of a window (of a session: the gap), ``slide`` the step of ``HOP`` and ``CUMULATE``,
    ``zone`` the time zone of days and months, as a literal. It stands where a table's name stands:
    ``exp.Table(this=WindowTable(…), alias=…)``.
    """

    arg_types = {
        "kind": True,
        "this": True,
        "time": True,
        "size": True,
        "slide": False,
        "offset": False,
        "partition_by": False,
        "zone": False,
    }


class ViewWatermark(exp.Expression, exp.Func):
    """``watermark()`` in a view: how far the event times of its inputs have come, at its commit."""

    arg_types = {}
    _sql_names = ["WATERMARK"]


class OneColumn(exp.Expression, exp.Func):
    """An array of which UNNEST gives one column; it is gone once its type is known."""


class JSONScalar(exp.Expression, exp.Func):
    """``json_extract_scalar(x, path ERROR ON ERROR)``: it fails on objects, arrays and no JSON."""

    arg_types = {"this": True, "path": True}


class JSONText(exp.Expression, exp.Func):
    """``json_format(CAST(x AS JSON))``: a value as the text of its JSON, NULL if it is NULL.

    ``no_rows``: rows are refused, since their dialect leaves out fields that are NULL; ``strict``:
    so are columns of text, which may hold JSON in their dialect.
    """

    arg_types = {"this": True, "no_rows": False, "strict": False}


class MatchRecognize(exp.MatchRecognize):
    """``MATCH_RECOGNIZE`` with ``WITHIN interval`` and ``SUBSET``, which sqlglot's own lacks."""

    arg_types = {**exp.MatchRecognize.arg_types, "within": False, "subset": False}


class PatternRows(exp.Expression):
    """What a bound ``MATCH_RECOGNIZE`` becomes in ``FROM``: the rows of its matches.

    ``this`` is a subquery with the input columns of the clause, ``order`` the order of its rows
    within a partition, ``clause`` a ``headwater.patterns.MatchClause``, ``fields`` the names and
    types of the columns.
    """

    arg_types = {"this": True, "order": True, "clause": True, "fields": True, "alias": False}


class RecursiveRows(exp.Expression):
    """What a reference to a recursive common table expression becomes in ``FROM``.

    ``this`` is the union of the anchor and the step, ``distinct`` that of the union; ``name`` tells
    it from others in the query; ``fields`` the names and types of its columns, once it is bound.
    """

    arg_types = {"this": True, "name": True, "columns": False, "fields": False, "alias": False}


class WorkingTable(exp.Expression):
    """The rows that the round before found, in the step of :class:`RecursiveRows`.

    ``this`` is the ``name`` of those.
    """

    arg_types = {"this": True, "alias": False}


class ProcessingMode(exp.Expression):
    """``FINAL`` or ``RUNNING`` before a function of ``MEASURES``: ``FINAL LAST(a.x)``."""

    arg_types = {"this": True, "mode": True}
