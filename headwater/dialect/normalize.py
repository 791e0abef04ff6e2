"""A parsed statement → its canonical form, in place.

In: the tree as the parser left it. Out: the same tree with folded names, Trino's type names and
singular interval units, so that what is printed parses to an equal tree. Trees too deep for the
recursive passes after the parser are refused here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NoReturn

from sqlglot import exp
from sqlglot.generators.trino import TrinoGenerator
from sqlglot.tokens import Tokenizer

from headwater.dialect.interval_text import unit_of
from headwater.dialect.position import offsets_of
from headwater.dialect.syntax import IN_QUOTES, CreateStreamingView
from headwater.dialect.vocabulary import UNITS, DialectError
from headwater.errors.nearest import nearest

MAX_TREE_DEPTH = 150
MAX_CHAIN = 500
FRAMES = 30_000
"""Frames that a query within these limits may take: chains become calls within calls, and sqlglot
prints a call with five frames."""

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_CHAINS = (exp.SetOperation, exp.Connector, exp.Add, exp.Sub, exp.Mul, exp.DPipe)

_TYPES = {
    exp.DType.TEXT: exp.DType.VARCHAR,
    exp.DType.NVARCHAR: exp.DType.VARCHAR,
    exp.DType.NCHAR: exp.DType.CHAR,
    exp.DType.BINARY: exp.DType.VARBINARY,
    exp.DType.BLOB: exp.DType.VARBINARY,
    exp.DType.DATETIME: exp.DType.TIMESTAMP,
    exp.DType.DATETIME64: exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: exp.DType.TIMESTAMP,
    exp.DType.TIMESTAMPLTZ: exp.DType.TIMESTAMPTZ,
}


_AROUND_QUERIES = (
    *(exp.Subquery, exp.SetOperation, exp.CTE, CreateStreamingView),
    *(exp.Exists, exp.In, exp.Any, exp.All, exp.Array, exp.Lateral),
)
_TABLE_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")

_REFUSED: dict[type[exp.Expr], str] = {
    exp.Placeholder: "a parameter",
    exp.Parameter: "a parameter",
    exp.SessionParameter: "a session parameter",
    exp.Lock: "FOR UPDATE",
    exp.Into: "SELECT INTO",
    exp.Pivot: "PIVOT",
    exp.TableFromRows: "TABLE (…)",
    exp.Command: "this",
}


def normalize(statement: exp.Expr, words: type[Tokenizer]) -> None:
    """Bring a statement into canonical form.

    Args:
        statement: a parsed statement; changed in place.
        words: the tokenizer whose keywords may not stand unquoted as names.

    Raises:
        DialectError: TOO_DEEP.
    """
    stack: list[tuple[exp.Expr, int, int]] = [(statement, 1, 1)]
    while stack:
        node, depth, chain = stack.pop()
        if depth > MAX_TREE_DEPTH or chain > MAX_CHAIN:
            _refuse(node, depth)
        node = _one_trunc(node)
        _canonical(node, words)
        _check(node)
        stack += _children(node, depth, chain)


def is_too_deep(root: exp.Expr) -> bool:
    """Return whether a tree is deeper than the recursive passes after the parser manage."""
    stack: list[tuple[exp.Expr, int, int]] = [(root, 1, 1)]
    while stack:
        node, depth, chain = stack.pop()
        if depth > MAX_TREE_DEPTH or chain > MAX_CHAIN:
            return True
        stack += _children(node, depth, chain)
    return False


def _children(node: exp.Expr, depth: int, chain: int) -> Iterator[tuple[exp.Expr, int, int]]:
    for child in node.iter_expressions():
        # left-deep chains (a OR b OR c, UNION ALL) are walked in a loop by sqlglot, not
        # recursively
        if child.arg_key == "this" and type(child) is type(node) and isinstance(node, _CHAINS):
            yield child, depth, chain + 1
        else:
            yield child, depth + 1, 1


def _one_trunc(node: exp.Expr) -> exp.Expr:
    """Read date_trunc of a literal date as date_trunc of a column; sqlglot has two nodes for it."""
    if not isinstance(node, exp.DateTrunc) or not node.this.is_type(exp.DType.DATE):
        return node
    trunc = exp.TimestampTrunc(this=node.this, unit=node.args["unit"])
    trunc.meta.update(node.meta)
    node.replace(trunc)
    return trunc


def fail_at(node: exp.Expr, condition: str, message: str, hint: str) -> NoReturn:
    """Raise a DialectError at a node, or at the nearest one above it that has a place."""
    found, inner = offsets_of(node), node.parent
    while not found and inner:
        found, inner = offsets_of(inner), inner.parent
    start, end = found or (0, 1)
    raise DialectError(condition, message, hint, start, end)


def _refuse(node: exp.Expr, depth: int) -> NoReturn:
    if depth > MAX_TREE_DEPTH:
        message = f"the query is nested deeper than {MAX_TREE_DEPTH} levels"
    else:
        message = f"more than {MAX_CHAIN} parts are joined by one kind of operator"
    hint = "split the view into several"
    fail_at(node, "TOO_DEEP", message, hint)


def _check(node: exp.Expr) -> None:
    """Refuse what sqlglot lets pass but SQL or a view does not."""
    in_from = isinstance(node, exp.Pivot) and node.parent
    if (what := _REFUSED.get(type(node))) and not in_from:
        hint = "describe the rows with SELECT … FROM … WHERE … GROUP BY"
        fail_at(node, "UNSUPPORTED_SYNTAX", f"{what} cannot be used here", hint)
    if check := _CHECKS.get(type(node)):
        check(node)


def _check_in(node: exp.Expr) -> None:
    if not any(node.args.get(key) for key in ("expressions", "query", "unnest", "field")):
        fail_at(node, "SYNTAX_ERROR", "the list of IN is empty", "give it at least one value")


def _check_table(node: exp.Expr) -> None:
    if isinstance(node.this, exp.Func):
        name = node.this.name if isinstance(node.this, exp.Anonymous) else node.this.sql_name()
        near = nearest(name, _TABLE_FUNCTIONS)
        hint = f"did you mean {near}?" if near else f"known: {', '.join(_TABLE_FUNCTIONS)}, UNNEST"
        message = f'table function "{name.lower()}" is not known'
        fail_at(node.this, "UNKNOWN_FUNCTION", message, hint)


def _check_interval(node: exp.Expr) -> None:
    unit = node.args.get("unit")
    if unit is None or (isinstance(unit, exp.Var) and unit.name not in UNITS):
        near = nearest(unit.name, UNITS) if unit else ""
        hint = f"did you mean {near}?" if near else "write it as INTERVAL '10' SECOND"
        fail_at(node, "SYNTAX_ERROR", "the interval is not valid", hint)


def _check_query(node: exp.Expr) -> None:
    if node.parent and not isinstance(node.parent, _AROUND_QUERIES):
        hint = "put it in brackets"
        fail_at(node, "SYNTAX_ERROR", "a query stands here without brackets", hint)
    if node.args.get("joins") and not node.args.get("from_") and isinstance(node, exp.Select):
        hint = "begin with FROM table"
        fail_at(node.args["joins"][0], "SYNTAX_ERROR", "a join stands without FROM", hint)


def _check_alias(node: exp.Expr) -> None:
    if node.args.get("columns") and not node.this:
        hint = "write AS name (column, …)"
        fail_at(node, "SYNTAX_ERROR", "columns are named but the table is not", hint)


def _check_lateral(node: exp.Expr) -> None:
    if node.arg_key == "laterals" and not node.args.get("view"):
        hint = "write CROSS JOIN LATERAL (…)"
        fail_at(node, "SYNTAX_ERROR", "LATERAL stands without a join", hint)


def _check_group(node: exp.Expr) -> None:
    if node.expressions and node.args.get("grouping_sets"):
        hint = "put a comma before GROUPING SETS"
        fail_at(node, "SYNTAX_ERROR", "GROUPING SETS follows other keys", hint)


def _check_dot(node: exp.Expr) -> None:
    if isinstance(node.this, exp.Literal | exp.Star):
        hint = "only columns and tables have parts"
        fail_at(node, "SYNTAX_ERROR", "there is nothing behind this dot", hint)


def _check_type_parameter(node: exp.Expr) -> None:
    plain = isinstance(node.this, exp.Literal) and node.this.is_int
    if not plain or node.args.get("expression"):
        hint = "write it as DECIMAL(12, 2)"
        fail_at(node, "UNKNOWN_TYPE", "the parameter of a type is not a number", hint)


_CHECKS: dict[type[exp.Expr], Callable[[exp.Expr], None]] = {
    exp.In: _check_in,
    exp.Table: _check_table,
    exp.Interval: _check_interval,
    exp.Select: _check_query,
    exp.Union: _check_query,
    exp.Except: _check_query,
    exp.Intersect: _check_query,
    exp.TableAlias: _check_alias,
    exp.Lateral: _check_lateral,
    exp.Group: _check_group,
    exp.Dot: _check_dot,
    exp.DataTypeParam: _check_type_parameter,
}


def identifier(name: str) -> exp.Identifier:
    """Return a name as the binder writes it: in quotes where it needs them."""
    return exp.to_identifier(name, quoted=_needs_quotes(name))


def _needs_quotes(name: str) -> bool:
    return not _PLAIN.fullmatch(name) or name in TrinoGenerator.RESERVED_KEYWORDS


def _canonical(node: exp.Expr, words: type[Tokenizer]) -> None:
    if isinstance(node, exp.Identifier):
        name = node.this.lower()
        if node.args.get("quoted"):
            node.meta.setdefault(IN_QUOTES, node.this)
        node.set("this", name)
        kept = node.args.get("quoted") and name.upper() in words.KEYWORDS
        node.set("quoted", bool(_needs_quotes(name) or kept))
    elif isinstance(node, exp.Anonymous) and isinstance(node.this, str):
        node.set("this", node.this.lower())
    elif isinstance(node, exp.DataType):
        if node.this in _TYPES:
            node.set("this", _TYPES[node.this])
    elif isinstance(node, exp.Interval):
        unit = node.args.get("unit")
        if isinstance(unit, exp.Var) and (known := unit_of(unit.name)):
            unit.set("this", known)
        if node.this and node.this.is_number:
            node.set("this", exp.Literal.string(node.this.name))
