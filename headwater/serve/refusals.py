"""What DuckDB refuses in a query that a person asks, in the words of ``check``.

In: DuckDB's message, the query as parsed, and the columns that it can read. Out: an error with a
place and the name that was meant; None if the message is of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.names.scope import meant_by
from headwater.analyze.typing.unknown_functions import hint_for
from headwater.dialect import span_of
from headwater.errors import SqlError
from headwater.errors.nearest import did_you_mean

_COLUMN = re.compile(r'Referenced column "(?P<name>[^"]+)" not found')
_OF_TABLE = re.compile(r'"(?P<table>[^"]+)" does not have a column named "(?P<name>[^"]+)"')
_TABLE = re.compile(r'Referenced table "(?P<name>[^"]+)" not found')
_FUNCTION = re.compile(r"Function with name \"?(?P<name>\w+)\"? does not exist")
_KIND = re.compile(r"^(Binder|Catalog|Parser|Conversion) Error: ")


def explained(said: str, query: exp.Query, columns: Sequence[str]) -> SqlError:
    """Return DuckDB's refusal as an error of ours.

    Args:
        said: DuckDB's message.
        query: as parsed.
        columns: the columns of the tables that it reads.
    """
    if found := _COLUMN.search(said) or _OF_TABLE.search(said):
        name = found["name"]
        known = [*columns, *_made(query)]
        node = next((each for each in query.find_all(exp.Column) if each.name == name), None)
        hint = meant_by(node, name, known) if node else did_you_mean(name, known, "columns")
        message = f'column "{name}" does not exist'
        if table := found.groupdict().get("table"):
            message += f' in "{table}"'
        return _at("UNKNOWN_COLUMN", message, hint, node)
    if found := _TABLE.search(said):
        name = found["name"]
        aliases = [each.alias_or_name for each in query.find_all(exp.Table, exp.Subquery)]
        column = next((each for each in query.find_all(exp.Column) if each.table == name), None)
        hint = did_you_mean(name, filter(None, aliases), "relations")
        return _at("UNKNOWN_TABLE", f'"{name}" is not in FROM', hint, column)
    if found := _FUNCTION.search(said):
        name = found["name"]
        call = next(
            (each for each in query.find_all(exp.Anonymous) if each.name.lower() == name), None
        )
        hint = hint_for(call or exp.Anonymous(this=name), name, ())
        return _at("UNKNOWN_FUNCTION", f"function {name} does not exist", hint, call)
    return SqlError("QUERY_REFUSED", _KIND.sub("", said))


def _at(condition: str, message: str, hint: str, node: exp.Expr | None) -> SqlError:
    return SqlError(condition, message, hint=hint, span=span_of(node) if node else None)


def _made(query: exp.Query) -> list[str]:
    """The names that subqueries give their columns."""
    return [each.alias for each in query.find_all(exp.Alias)]
