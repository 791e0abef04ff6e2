"""Spark SQL of a program → the same in DuckDB.

In: text that the planner wrote for Spark. Out: text for DuckDB. sqlglot translates most of it; what
it does not is written here: windows, the order of structs, collected lists, and the hashes that
name units. Units get few names, so that some collide: that must not matter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqlglot import exp, parse_one

from headwater.analyze.fallibility import fallible
from headwater.analyze.portable.rewrites import portable

MACROS = (
    "CREATE MACRO unix_micros(x) AS epoch_us(x)",
    "CREATE MACRO timestamp_micros(x) AS make_timestamptz(x)",
    "CREATE MACRO raise_error(x) AS error(x)",
    "CREATE MACRO pmod(a, b) AS ((a % b) + b) % b",
    "CREATE MACRO to_wall(x, zone) AS timezone('UTC', timezone(zone, x))",
    "CREATE MACRO from_wall(x, zone) AS timezone(zone, timezone('UTC', x))",
)
"""Functions of Spark that DuckDB has by another name."""

_ZONES = {"from_utc_timestamp": "to_wall", "to_utc_timestamp": "from_wall"}
"""Spark's wall clocks are instants; sqlglot 30.30.0 turns the second one the wrong way."""

_WATERMARK = re.compile(r"\bWATERMARK \w+ DELAY OF INTERVAL '[\d.]+' SECONDS?")
_LENGTH = re.compile(r"(\d+) (second|microsecond)s", re.IGNORECASE)


class Collected(exp.Expression, exp.AggFunc):
    """A list as DuckDB writes it, with holes for its arguments; it cannot sort as Spark does."""

    arg_types = {"this": True, "expressions": True}  # noqa: RUF012  as sqlglot has it
    is_var_len_args = True
    _sql_names = ("COLLECTED",)


# no list can fail, which the planner knows of its own
fallible.TOTAL = fallible.TOTAL | {Collected}


def collected(node: exp.Expr) -> exp.Expr:
    """Put an ordered list into a form that the planner passes on as it is.

    Args:
        node: any node of a bound query.
    """
    if not isinstance(node, (exp.ArrayAgg, exp.GroupConcat)):
        return node
    order, distinct = node.this, isinstance(node.this.this, exp.Distinct)
    value = order.this.expressions[0] if distinct else order.this
    keys = [
        f"{{{at}}} {'DESC' if item.args.get('desc') else ''}"
        f" NULLS {'FIRST' if item.args.get('nulls_first') else 'LAST'}"
        for at, item in enumerate(order.expressions, 1)
    ]
    separator = node.args.get("separator")
    called = f"{'DISTINCT ' if distinct else ''}{{0}}{f', {separator}' if separator else ''}"
    name = "array_agg" if isinstance(node, exp.ArrayAgg) else "listagg"
    text = exp.Literal.string(f"{name}({called} ORDER BY {', '.join(keys)})")
    given = [value, *(item.this for item in order.expressions)]
    call = Collected(this=text, expressions=given)
    call.type = node.type
    return call


def duckdb_sql(sql: str, *, names: int = 50, renamed: Mapping[str, str] | None = None) -> str:
    """Return a statement as DuckDB runs it.

    Args:
        sql: Spark SQL.
        names: how many different names units have.
        renamed: tables that are to be read from others.
    """
    tables = renamed or {}

    def translated(node: exp.Expression) -> exp.Expression:
        match node:
            case exp.Table() if node.name in tables:
                own = node.alias or node.name
                return exp.to_table(tables[node.name], alias=own)
            case exp.Anonymous() if node.name.lower() == "xxhash64":
                hashed = exp.Anonymous(this="hash", expressions=node.expressions)
                return exp.cast(exp.Mod(this=hashed, expression=exp.Literal.number(names)), "int8")
            case exp.Anonymous() if node.name.lower() == "collected":
                return _filled(node)
            case exp.Anonymous() if node.name.lower() == "window":
                return _windows(node)
            case exp.ArgMin() | exp.ArgMax():  # Spark's take rows that have no value
                name = f"arg_{'min' if isinstance(node, exp.ArgMin) else 'max'}_null"
                return exp.Anonymous(this=name, expressions=[node.this, node.expression])
            case exp.GT(this=exp.Struct(), expression=exp.Struct()):
                return _greater(node.this.expressions, node.expression.expressions)
            case exp.Join(side="LEFT", kind="SEMI" | "ANTI"):
                node.set("side", None)
            case exp.Select():
                node.set("hint", None)
                _unnest(node)
            case exp.CountIf():
                return portable(node, "duckdb")
        return node

    for name, macro in _ZONES.items():
        sql = re.sub(rf"\b{name}\(", f"{macro}(", sql, flags=re.IGNORECASE)
    root = parse_one(_WATERMARK.sub("", sql), dialect="spark")
    if isinstance(root, exp.Merge):
        _unqualify(root)
    return root.transform(translated).sql(dialect="duckdb")


def duckdb_type(kind: str) -> str:
    """Return a type of Spark SQL as DuckDB writes it.

    Args:
        kind: the type.
    """
    return exp.DataType.build(kind, dialect="spark").sql(dialect="duckdb")


def _unnest(select: exp.Select) -> None:
    """Spark's LATERAL VIEW → a join; several arrays stand side by side in a SELECT list only."""
    for view in select.args.get("laterals") or []:
        call, alias = view.this, view.args["alias"]
        if isinstance(call, exp.Inline):
            calls = [exp.Anonymous(this="unnest", expressions=[each]) for each in _zipped(call)]
            query = exp.Subquery(this=exp.Select(expressions=calls))
            item: exp.Expr = exp.Lateral(this=query, alias=alias)
        else:
            item = exp.Unnest(expressions=[call.this], alias=alias)
        select.append("joins", exp.Join(this=item, kind="CROSS"))
    select.set("laterals", None)


def _zipped(call: exp.Inline) -> list[exp.Expr]:
    """The arrays of ``inline(arrays_zip(coalesce(x, array()), …))``."""
    zipped = [each.this for each in call.this.expressions]
    assert all(isinstance(each.parent, exp.Coalesce) for each in zipped)
    return zipped


def _filled(node: exp.Anonymous) -> exp.Expr:
    template, *given = node.expressions
    text = template.name.format(*(each.sql("duckdb") for each in given))
    return parse_one(text, dialect="duckdb")


def _windows(node: exp.Anonymous) -> exp.Expr:
    """Spark's ``window(time, size, slide, offset)``: a row for each window that has the time."""
    time, *lengths = node.expressions
    size, *others = map(_micros, lengths)
    slide, offset = (*others, size, 0)[:2] if len(others) < 2 else others
    at = time.sql("duckdb")
    last = f"epoch_us({at}) - ((epoch_us({at}) - {offset}) % {slide} + {slide}) % {slide}"
    make = "make_timestamptz"
    starts = [f"{last} - {number * slide}" for number in range(-(-size // slide))]
    windows = ", ".join(
        f"{{'start': {make}({each}), 'end': {make}({each} + {size})}}" for each in starts
    )
    ends = f"list_filter([{windows}], w -> w['end'] > {at})"
    return parse_one(f"unnest(CASE WHEN {at} IS NULL THEN [] ELSE {ends} END)", dialect="duckdb")


def _micros(length: exp.Expr) -> int:
    found = _LENGTH.fullmatch(length.name)
    assert found, length
    return int(found[1]) * (1 if found[2].lower() == "microsecond" else 1_000_000)


def _greater(left: list[exp.Expr], right: list[exp.Expr]) -> exp.Expr:
    """A struct is greater if its first field that differs is; NULL is less than all else."""
    (one, *others), (two, *more) = ([_value(each) for each in side] for side in (left, right))
    above = f"({one} IS NOT NULL AND ({two} IS NULL OR {one} > {two}))"
    text = f"coalesce({above}, false)"
    if others:
        rest = _greater(left[1:], right[1:]).sql("duckdb")
        text = f"({text} OR ({one} IS NOT DISTINCT FROM {two} AND {rest}))"
    return parse_one(text, dialect="duckdb")


def _value(field: exp.Expr) -> str:
    return (field.expression if isinstance(field, exp.PropertyEQ) else field).sql("duckdb")


def _unqualify(merge: exp.Merge) -> None:
    """DuckDB's MERGE names the columns that it sets without their table."""
    for when in merge.find_all(exp.When):
        then = when.args["then"]
        if isinstance(then, exp.Update):
            for item in then.expressions:
                item.set("this", exp.column(item.this.name))
