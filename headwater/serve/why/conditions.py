"""The rows that a person means: ``column=value`` of a command line.

In: pairs and the columns of a view. Out: conditions of DuckDB. ``NULL`` is a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from headwater.errors import ConfigError
from headwater.errors.nearest import did_you_mean
from headwater.serve.connection import literal, quoted

if TYPE_CHECKING:
    import duckdb

NULL = "NULL"


def read_pairs(arguments: Sequence[str]) -> dict[str, str]:
    """Return the pairs of a command line by column.

    Raises:
        ConfigError: ``USAGE``.
    """
    pairs: dict[str, str] = {}
    for argument in arguments:
        column, equals, value = argument.partition("=")
        if not equals or not column:
            hint = "name a column and its value: city=Oslo"
            raise ConfigError("USAGE", f'"{argument}" is not COLUMN=VALUE', hint=hint)
        if pairs.setdefault(column.strip().lower(), value) != value:
            raise ConfigError("USAGE", f'column "{column}" has two values', hint="name one of them")
    return pairs


def condition(
    connection: duckdb.DuckDBPyConnection,
    view: str,
    pairs: Mapping[str, str],
    types: Mapping[str, str],
) -> str:
    """Return the condition of the rows that are meant.

    Args:
        connection: converts the values.
        view: name of the view.
        pairs: texts of values by column.
        types: DuckDB's types of the view's columns.

    Raises:
        ConfigError: ``UNKNOWN_COLUMN``, ``USAGE`` for a value that the column cannot have.
    """
    for column, text in pairs.items():
        if column not in types:
            hint = did_you_mean(column, types, "columns")
            message = f'view "{view}" has no column "{column}"'
            raise ConfigError("UNKNOWN_COLUMN", message, hint=hint)
        tried = connection.sql(f"SELECT TRY_CAST({literal(text)} AS {types[column]}) IS NULL")
        if text != NULL and tried.fetchall()[0][0]:
            message = f'"{text}" is not a value of column "{column}", a {types[column]}'
            raise ConfigError("USAGE", message, hint="NULL stands for a missing value")
    terms = (equals(quoted(name), text, types[name]) for name, text in pairs.items())
    return " AND ".join(terms)


def equals(column: str, text: str | None, kind: str) -> str:
    """Return the condition that a column has a value.

    Args:
        column: the column as SQL.
        text: the value as text; None or ``NULL`` for a missing one.
        kind: DuckDB's type of the column.
    """
    if text is None or text == NULL:
        return f"{column} IS NULL"
    return f"{column} = CAST({literal(text)} AS {kind})"
