"""The connector of another package lands its rows, and goes on after a crash."""

from headwater.analyze.project import bind
from headwater.connectors.contract import Limits
from headwater.dialect import parse
from tests.support.toy_package import install

TABLE = """
CREATE TABLE squares (n BIGINT, square BIGINT, said VARCHAR)
WITH (connector = 'squares', first = 1, last = 5) FORMAT PLAIN ENCODE WORDS (language = 'de')
"""


def test_a_connector_of_another_package_lands_each_row_once(lake, landing, monkeypatch):
    install(monkeypatch)
    source = bind({"a.sql": parse(TABLE)}).sources["squares"]
    first = landing(source).step(Limits(rows=3))
    assert first and (first.units, first.rows_out) == (3, 3)
    opened = landing(source)  # as a new process does
    assert opened.backlog() == 2
    assert opened.step() and opened.step() is None
    rows = lake.table("squares").read().orderBy("n").collect()
    assert [(row.n, row.square) for row in rows] == [(n, n * n) for n in range(1, 6)]
    assert rows[0].said == "Quadrat von 1"
