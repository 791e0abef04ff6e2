"""Values that a dialect writes as JSON otherwise than Trino.

In: typed calls. Out: NOT_PORTABLE for rows in Spark's ``to_json``, which leaves out fields that are
NULL, and for texts in PostgreSQL's ``jsonb_agg`` and its like that could be JSON, since columns of
JSON are columns of text.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.analyze.typing.functions.text import TEXT
from headwater.dialect.syntax import JSONText

_TEXTS: tuple[type[exp.Expr], ...] = (
    exp.Literal,
    exp.Cast,
    exp.DPipe,
    exp.TimeToStr,
    JSONText,
    *TEXT,
)
"""What is a text, and no JSON, or JSON that a call makes."""


def check_json(node: exp.Expr, report: Diagnostics) -> None:
    """Report a value of :class:`JSONText` that has another JSON in the dialect of the call."""
    value = node.this
    if node.args.get("no_rows") and type_of(value).find(exp.ColumnDef):
        message = "to_json leaves out fields of a row that are NULL"
        report.add("NOT_PORTABLE", message, node, "write to_json(named_struct('a', r.a))")
    if node.args.get("strict") and (found := _could_be_json(value)):
        message = f"{found.name} is a text or JSON, which would not be quoted"
        hint = f"write {found.name}::text if it is a text"
        report.add("NOT_PORTABLE", message, found, hint)


def _could_be_json(value: exp.Expr) -> exp.Expr | None:
    """Return a column that the value is made of and that may hold JSON."""
    for node in value.walk(prune=lambda node: isinstance(node, _TEXTS)):
        if isinstance(node, exp.Column) and _has_text(type_of(node)):
            return node
    return None


def _has_text(kind: exp.DataType) -> bool:
    return any(each.this is t.Type.VARCHAR for each in kind.find_all(exp.DataType))
