"""The answers that Trino gave over text are still Trino's; ``make golden`` records them anew."""

from __future__ import annotations

import json

import pytest
import trino

from headwater.servers.leftover import temporary_stack
from headwater.testing.harness import shared_session
from tests.serving.judge import trino_over
from tests.support.golden_files import check_golden
from tests.support.text_cases import EXPRESSIONS, RECORDED, ROWS

pytestmark = pytest.mark.services


def test_trino_gives_the_recorded_answers() -> None:
    numbered = ", ".join(f"({at}, {', '.join(map(_literal, row))})" for at, row in enumerate(ROWS))
    table = f"(VALUES {numbered}) AS t (id, s, u, i)"
    query = f"SELECT {', '.join(EXPRESSIONS)} FROM {table} ORDER BY id"
    with (
        shared_session() as spark,
        temporary_stack() as stack,
        trino_over(spark, stack) as judge,
    ):
        host, port = judge.url.removeprefix("http://").split(":")
        with trino.dbapi.Connection(host, int(port), "test", timezone="UTC") as connection:
            cursor = connection.cursor()
            cursor.execute(query)
            found = cursor.fetchall()
    lines = [
        f"{json.dumps(each)}: {json.dumps([row[at] for row in found])}"
        for at, each in enumerate(EXPRESSIONS)
    ]
    check_golden(RECORDED, "{\n" + ",\n".join(lines) + "\n}\n")


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
