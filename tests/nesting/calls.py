"""Every function, given its own result as an argument.

In: calls of :data:`tests.fuzz.functions.CALLS`. Out: SQL over the columns of a table, whose names
are kinds; a cast stands where the result is of another kind than the argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

import duckdb
from sqlglot import exp

from headwater.analyze.failing.conditions import or_else
from headwater.analyze.failing.failing_rows import fails
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.plan.sql.render import print_sql
from headwater.plan.tolerant import tolerant
from tests.fuzz.functions import holes
from tests.fuzz.schemas import KINDS

OPERATORS: Mapping[str, tuple[str, ...]] = {
    "text": (
        "json_extract_scalar({text}, '$')",
        "coalesce({text}, 'w')",
        "CASE WHEN {text} > 'u' THEN {text} ELSE 'u' END",
    ),
    "number": (
        *("{number} / {small}", "{number} % {small}", "{number} + {number}", "{number} * {small}"),
        "nullif({number}, {small})",
        *("coalesce({number} / {small}, {number})", "CAST({text} AS BIGINT)"),
        *("CASE WHEN {number} / {small} > 1 THEN {number} - 1 END", "round({number} % 1000, -1)"),
    ),
    "float": (
        *("{float} / {float}", "{float} % {float}", "log2({float})", "log(2, {float})"),
        *("truncate({float})", "log2({number})"),
        *("log({float}, 2)", "round({float}, 2)", "round({float})", "nullif({float}, {number})"),
        "if({float} > {number}, {float}, {number} / 2e0)",
    ),
    "flag": (
        *("{number} > {float}", "{float} = {float}", "{float} <> {money}", "{flag} AND {flag}"),
        *("{float} BETWEEN {number} AND {money}", "{float} IN (1, {number}, {money})"),
        *("{number} / {small} > 1", "{number} / {small} > 1 OR {flag}", "{flag} IS NULL"),
    ),
    "money": (
        "{money} / {money}",
        "{money} % {small}",
        "CAST({money} * {money} AS DECIMAL(9, 2))",
        "round({money}, 1)",
    ),
    "day": ("{day} + INTERVAL '1' MONTH", "date_add('day', {small}, {day})"),
    "moment": ("{moment} - INTERVAL '36' HOUR", "date_add('month', {small}, {moment})"),
}
"""Operators, and calls at which arguments stand in their texts more than once."""

ENGINES = ("spark", "duckdb", "trino")
_LAZY = ("coalesce(", "if(", "CASE ", " AND ", " OR ")
_NUMBERS = frozenset(("number", "small", "float", "money"))
_TIMES = frozenset(("day", "moment", "instant"))
VALUES: Mapping[str, tuple[object, ...]] = {
    "text": (None, "", "u", "Vuß", " 7 ", "-0.0", '{"a": ["u"]}', "2026-01-02", "1e3"),
    "number": (None, 0, 1, -7, 63, 2**31, 2**63 - 1, 1 - 2**63, 3),
    "float": (None, 0.0, -0.0, 1.5, -2.5, float("nan"), float("inf"), 1e300, 0.125),
    "small": (None, 0, 1, -1, 2, 5, 2**31 - 1, -(2**31), 3),
    "money": (None, "-0.25", "0.00", "1.50", "12345.67", "-1.00", "0.01", "999999.94", "2.00"),
    "flag": (None, False, True, None, True, False, True, False, True),
    "day": tuple(None if n == 0 else date(2026, n, 28) for n in range(9)),
    "moment": tuple(None if n == 0 else datetime(2026, n, 28, 23, 59, 59, n) for n in range(9)),  # noqa: DTZ001
    "instant": tuple(None if n == 0 else datetime(2025, n, 1, n) for n in range(9)),  # noqa: DTZ001
}


@dataclass(frozen=True, slots=True)
class Nesting:
    """A call, one of whose arguments is its own result.

    Attributes:
        call: of :data:`CALLS` or :data:`OPERATORS`.
        kind: of its value.
        place: which of its arguments.
    """

    call: str
    kind: str
    place: int

    def __str__(self) -> str:
        return f"{self.call} at {self.place}"

    @property
    def is_lazy(self) -> bool:
        """Whether it computes some arguments on some rows only."""
        return any(word in self.call for word in _LAZY)

    @property
    def input(self) -> str:
        """The column that is the argument of the innermost call."""
        return f"given_{self.kind}"

    def sql(self, depth: int, given: str = "") -> str:
        """Return the call within itself.

        Args:
            depth: how often.
            given: the argument of the innermost, by default :attr:`input`.
        """
        text = given or self.input
        for _ in range(depth):
            text = self._around(text)
        return text

    def _around(self, inner: str) -> str:
        wanted = iter(enumerate(holes(self.call)))
        return re.sub(r"\{\w+\}", lambda _: self._argument(*next(wanted), inner), self.call)

    def _argument(self, place: int, kind: str, inner: str) -> str:
        return kind if place != self.place else converted(f"({inner})", self.kind, kind)


def nestings(table: Mapping[str, tuple[str, ...]]) -> Iterator[Nesting]:
    """Yield every call of a table with each of its arguments."""
    for kind, calls in table.items():
        for call in calls:
            for place in range(len(holes(call))):
                yield Nesting(call, kind, place)


def converted(text: str, source: str, target: str) -> str:
    """Return a value of one kind as one of another."""
    if source == target:
        return text
    if {source, target} <= _NUMBERS or {source, target} <= _TIMES:
        return f"CAST({text} AS {KINDS[target].type})"
    if target == "text":
        return f"CAST({text} AS VARCHAR)"
    if source == "text":
        return f"TRY_CAST({text} AS {KINDS[target].type})"
    if source == "flag":
        return converted(f"if({text}, 1, 0)", "small", target)
    if target == "flag":
        return f"({text} IS NULL)"
    if source in _TIMES:
        whole = converted(text, source, "day")
        return converted(f"date_diff('day', DATE '2026-01-01', {whole})", "number", target)
    days = converted(f"({converted(text, source, 'small')} % 100)", "small", "number")
    return converted(f"date_add('day', {days}, DATE '2026-01-01')", "day", target)


_COLUMNS = ", ".join(
    f"{name} {KINDS[kind].type}" for kind in VALUES for name in (kind, f"given_{kind}")
)
_TABLE = (
    f"CREATE TABLE t (id BIGINT, {_COLUMNS})"
    " WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;"
)


def query(text: str) -> exp.Query:
    """Return a bound SELECT of an expression over the table."""
    view = f"CREATE STREAMING VIEW v ON ERROR FAIL AS SELECT id, {text} AS x FROM t;"
    return bind({"v.sql": parse(_TABLE + view, file="v.sql")}).views["v"].query


def texts(text: str) -> dict[str, str]:
    """Return what is printed of an expression for each engine."""
    bound = query(text)
    return {dialect: print_sql(portable(bound, dialect), dialect) for dialect in ENGINES}


def guarded(bound: exp.Query, dialect: str) -> str:
    """Return the SELECT of an expression, and of whether it fails; it raises on no row."""
    whole = bound.copy()
    condition = fails(whole.selects[1].unalias()) or exp.false()
    whole.append("expressions", exp.alias_(or_else(condition, exp.false()), "bad"))
    return str(portable(tolerant(whole), dialect).sql(dialect))


def rows() -> list[tuple[object, ...]]:
    """Return rows at the edges of each kind."""
    columns = [each for values in VALUES.values() for each in (values, values)]
    return list(zip(range(9), *columns, strict=True))


def fill(duck: duckdb.DuckDBPyConnection) -> None:
    """Make the table and its rows."""
    duck.execute(f"CREATE OR REPLACE TABLE base (id BIGINT, {_COLUMNS})")
    duck.executemany(f"INSERT INTO base VALUES ({', '.join('?' * (1 + 2 * len(VALUES)))})", rows())
