"""Asks Trino what every form answers, verbatim.

In: forms, an address. Out: :class:`Recorded`, with an error for the rows on which Trino fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import trino
from trino.exceptions import TrinoQueryError

from tests.conformance.engines import ERROR, trino_value
from tests.conformance.forms import Form
from tests.conformance.judge import keys_of
from tests.conformance.record import Recorded
from tests.conformance.values import digest, rows_sql

_AT_ONCE = 3


def ask(forms: Sequence[Form], address: str) -> Iterator[Recorded]:
    """Yield Trino's answers in the order of the forms."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        yield from pool.map(lambda form: _Asked(form, address).recorded(), forms)


class _Asked:
    def __init__(self, form: Form, address: str) -> None:
        self._form, url = form, urlsplit(address)
        self._connection = trino.dbapi.connect(
            host=url.hostname,
            port=url.port,
            http_scheme=url.scheme,
            user="conformance",
            timezone="UTC",
            legacy_primitive_types=True,
        )
        self._kind = ""

    def recorded(self) -> Recorded:
        """Ask for all rows at once; if Trino fails, for ever fewer of them."""
        keys = keys_of(self._form)
        rows = digest(self._form.columns)
        result = self._run()
        if isinstance(result, str):
            kind = self._described()
            if not kind:
                return Recorded(self._form.text, "", rows, [{ERROR: result}])
            result = self._halves(keys, result)
            self._kind = kind
        return Recorded(self._form.text, self._kind, rows, [result[key] for key in keys])

    def _halves(self, keys: Sequence[int], failure: str) -> dict[int, Any]:
        """Answers by key, if all keys together fail."""
        if len(keys) == 1:
            return {keys[0]: {ERROR: failure}}
        found: dict[int, Any] = {}
        for half in (keys[: len(keys) // 2], keys[len(keys) // 2 :]):
            result = self._run(half)
            found |= self._halves(half, result) if isinstance(result, str) else result
        return found

    def _run(self, keys: Sequence[int] = ()) -> dict[int, Any] | str:
        """Values by key, or the name of the error."""
        key = "g" if self._form.grouped else "k"
        where = f"WHERE {key} BETWEEN {keys[0]} AND {keys[-1]}" if keys else ""
        table = f"(SELECT * FROM ({rows_sql(self._form.columns, 'trino')}) AS q_ {where}) AS t"
        try:
            rows, kinds = self._fetched(self._form.query(table))
        except TrinoQueryError as error:
            return str(error.error_name)
        self._kind = kinds[1]
        return {found: trino_value(value, self._kind) for found, value in rows}

    def _described(self) -> str:
        """The type of the form, from its query without rows; empty if Trino does not analyse it."""
        query = self._form.query(f"({rows_sql(self._form.columns, 'trino')}) AS t")
        try:
            return self._fetched(f"SELECT x FROM ({query}) AS q_ LIMIT 0")[1][0]
        except TrinoQueryError:
            return ""

    def _fetched(self, sql: str) -> tuple[list[list[Any]], list[str]]:
        cursor = self._connection.cursor()
        cursor.execute(sql)
        rows = cursor.fetchall()
        return rows, [each[1] for each in cursor.description]
