"""Records what Trino answers to every form.

In: the address of a Trino. Out: ``answers.jsonl``, one form a line.
"""

from __future__ import annotations

import json
import sys
from dataclasses import astuple
from urllib.parse import urlsplit

import trino
from trino.exceptions import TrinoUserError

from tests.coercion.pairs import COLUMNS, FILE, Answer, forms, query_of, rows_sql, values_of

_ROWS = rows_sql(COLUMNS)


def _answer(connection: trino.dbapi.Connection, form: str) -> Answer:
    cursor = connection.cursor()
    try:
        cursor.execute(f"WITH t AS ({_ROWS}) {query_of(form)}")
        rows = cursor.fetchall()
    except TrinoUserError as error:
        if error.error_name not in ("TYPE_MISMATCH", "FUNCTION_NOT_FOUND"):
            raise SystemExit(f"{form}: {error}") from error
        return Answer(form, "", [])
    kind = str(cursor.description[-1][1])
    return Answer(form, kind, values_of(form, rows, kind))


def main(address: str) -> None:
    """Ask a Trino, and write the file."""
    url = urlsplit(address)
    connection = trino.dbapi.connect(
        host=url.hostname, port=url.port, http_scheme=url.scheme, user="coercion", timezone="UTC"
    )
    answers = [_answer(connection, form) for form in forms()]
    lines = (json.dumps(astuple(each), ensure_ascii=False) for each in answers)
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
