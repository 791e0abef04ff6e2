"""Trino's answers and ours in one form, and what Trino is asked.

An answer is a list of rows, or an :data:`ERROR`. A row is a list of values in the order of the
columns' names; the order of rows does not count, since no query of ours orders them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import trino
from sqlglot import exp
from trino.exceptions import TrinoQueryError, TrinoUserError

from headwater.dialect import to_sql
from headwater.dialect.syntax import MatchRecognize
from headwater.errors import SqlError
from tests.patterns.cases import Case
from tests.patterns.product import answer, parsed

ERROR = "error"
_WHILE_RUNNING = "GENERIC_USER_ERROR"
"""Trino's error of AFTER MATCH SKIP; its others are those of the analysis."""

Answer = list[Any] | dict[str, str]


def ours(case: Case) -> Answer:
    """Return Headwater's answer; an error as its condition."""
    try:
        return plain(answer(case.text, case.rows))
    except SqlError as error:
        return {ERROR: error.condition}


def plain(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return rows as they are recorded, in an order of their own."""
    found = [[_plain(row[name]) for name in sorted(row)] for row in rows]
    return sorted(found, key=repr)


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, Decimal):
        return str(value)
    return value.isoformat() if isinstance(value, datetime) else value


def same(left: Answer, right: Answer) -> bool:
    """Return whether Trino's answer and ours agree; errors agree if they come at the same stage."""
    if isinstance(left, dict) or isinstance(right, dict):
        if not (isinstance(left, dict) and isinstance(right, dict)):
            return False
        return (left[ERROR] == _WHILE_RUNNING) == (right[ERROR] == "MATCH_FAILED")
    return len(left) == len(right) and all(map(_same, left, right))


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-6)
    return type(left) is type(right) and bool(left == right)


class Trino:
    """A running Trino."""

    def __init__(self, address: str) -> None:
        url = urlsplit(address)
        self._connection = trino.dbapi.connect(
            host=url.hostname,
            port=url.port,
            http_scheme=url.scheme,
            user="patterns",
            timezone="UTC",
        )

    def answer(self, case: Case) -> Answer:
        """Return Trino's answer; an error as its name."""
        query = f"SELECT * FROM {case.rows} MATCH_RECOGNIZE ({asked(case.text)}) AS m"
        found = self.rows(query)
        return {ERROR: found[ERROR]} if isinstance(found, dict) else found

    def rows(self, query: str) -> Answer:
        """Return the rows of a query; an error as its name."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(query)
            rows = cursor.fetchall()
        except (TrinoQueryError, TrinoUserError) as error:
            return {ERROR: str(error.error_name), "message": str(error.message)}
        names = [each[0] for each in cursor.description]
        return plain(dict(zip(names, row, strict=True)) for row in rows)


def asked(text: str) -> str:
    """Return what Trino is asked: the text itself, ``WITHIN`` as the condition that it means."""
    if "WITHIN INTERVAL" not in text:
        return text
    node = parsed(text)
    within, time = node.args["within"], node.args["order"].expressions[0].this
    bound = exp.LTE(
        this=time.copy(),
        expression=exp.Add(this=exp.First(this=time.copy()), expression=within.copy()),
    )
    node.set("within", None)
    defined: dict[str, exp.Expr] = {each.alias: each.this for each in node.args["define"]}
    definitions: Sequence[exp.Expr] = [
        exp.alias_(exp.and_(defined.get(name, exp.true()), bound.copy()), name)
        for name in _variables(node)
    ]
    node.set("define", list(definitions))
    return to_sql(node).split("(", 1)[1].rsplit(")", 1)[0]


def _variables(node: MatchRecognize) -> list[str]:
    from headwater.patterns import read_clause

    return [name.lower() for name in read_clause(node).names]
