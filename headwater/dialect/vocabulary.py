"""The words of the dialect, and how a wrong one finds the right one.

In: a word as written. Out: the keyword it looks like; or a :class:`DialectError`, a refusal that
does not know its file yet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta

from sqlglot.errors import ParseError

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]{0,62}")
RESERVED_SUFFIXES = ("__changes", "__late", "__quarantine")
_UNNAMED = re.compile(r"_col[0-9]+")
_COUNTED = re.compile(r"_[0-9]+[ _a-z]")
"""How names such as ``_30_days`` begin, which no column of Headwater has."""
_REPEATED = re.compile(r"_again[0-9]+_")

TYPE_NAMES: tuple[str, ...] = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "INT", "BIGINT", "REAL", "DOUBLE", "DECIMAL"),
    *("VARCHAR", "STRING", "CHAR", "VARBINARY", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ"),
    *("JSON", "UUID", "ARRAY", "MAP", "ROW"),
)
QUERY_WORDS: tuple[str, ...] = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "QUALIFY", "WINDOW"),
    *("ORDER", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "CROSS", "UNION", "WITH"),
    *("BETWEEN", "PARTITION", "INTERVAL", "EMIT", "MATCH_RECOGNIZE", "RIGHT", "FULL", "OUTER"),
    *("EXCEPT", "INTERSECT", "ALL", "USING", "AND", "NOT", "LIKE", "NULL", "EXISTS", "CASE"),
    *("WHEN", "THEN", "ELSE", "END", "OVER", "FILTER", "WITHIN", "ROWS", "RANGE", "UNNEST"),
    *("LATERAL", "ESCAPE", "EXTRACT", "CAST", "RECURSIVE", "AS", "ON", "BY", "IN", "IS", "OR"),
)
LENGTHS: Mapping[str, timedelta] = {
    "MICROSECOND": timedelta(microseconds=1),
    "MILLISECOND": timedelta(milliseconds=1),
    "SECOND": timedelta(seconds=1),
    "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1),
    "DAY": timedelta(days=1),
    "WEEK": timedelta(weeks=1),
}
"""Units of time of a fixed length."""
UNITS: tuple[str, ...] = (*LENGTHS, "MONTH", "QUARTER", "YEAR")

# clauses that are known but stand in the wrong place, and where they belong
MISPLACED: Mapping[str, str] = {
    "EMIT": "EMIT stands after the query",
    "WATERMARK": "WATERMARK stands inside the column list of a source",
    "PRIMARY KEY": "PRIMARY KEY stands in brackets after the name",
    "PARTITIONED BY": "PARTITIONED BY stands before AS in CREATE STREAMING VIEW",
    "FRESHNESS": "FRESHNESS stands before AS in CREATE STREAMING VIEW",
    "LATE ROWS": "LATE ROWS stands before AS in CREATE STREAMING VIEW",
    "START FROM": "START FROM stands before AS in CREATE STREAMING VIEW",
    "COMMENT": "COMMENT stands before AS in CREATE STREAMING VIEW, after the columns of a table",
    "FORMAT": "FORMAT belongs to CREATE SOURCE and CREATE TABLE",
    "ON ERROR": "ON ERROR stands after FORMAT, or in a view before AS",
    "ENCODE": "ENCODE stands after FORMAT: FORMAT PLAIN ENCODE JSON",
}


class DialectError(ParseError):
    """A refusal with its place, before it is known which file the text is from.

    Attributes:
        condition: as in :class:`~headwater.errors.HeadwaterError`.
        message: as there.
        hint: as there.
        start: offset of the first character to underline.
        end: offset after the last one.
    """

    def __init__(self, condition: str, message: str, hint: str, start: int, end: int) -> None:
        super().__init__(message)
        self.condition, self.message, self.hint = condition, message, hint
        self.start, self.end = start, end


def unnamed_column(position: int) -> str:
    """Return Trino's name of a column that the SELECT list gives no name.

    Args:
        position: in the SELECT list, from 0.
    """
    return f"_col{position}"


def is_unnamed(column: str) -> bool:
    """Return whether a name is one of :func:`unnamed_column`."""
    return _UNNAMED.fullmatch(column) is not None


def told_apart(names: Iterable[str]) -> list[str]:
    """Return names of columns of which each is there once: ``a, _again2_a`` for ``a, a``.

    Args:
        names: as written, in the order of the columns.
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"_again{seen[name]}_{name}")
    return found


def name_shown(column: str) -> str:
    """Return the name that a column was written with, before :func:`told_apart`."""
    return _REPEATED.sub("", column, count=1) if is_repeated(column) else column


def is_repeated(column: str) -> bool:
    """Return whether a name is one that :func:`told_apart` made: another column has it already."""
    return _REPEATED.match(column) is not None


def is_system_column(column: str) -> bool:
    """Return whether a column of a table is Headwater's own: ``*`` does not show it."""
    own = column.startswith("_") and not is_unnamed(column)
    return own and not _COUNTED.match(column) and not is_repeated(column)
