"""A project with the tables of TPC-DS, whose rows come, change and go.

In: the folder that ``generate.py`` wrote, a seed. Out: a project folder whose views are queries;
files of rows, one batch after the other; DuckDB's tables of what the newest versions are.

Sales, returns, the inventory and the customers are views of the newest versions of their rows, so
that updates and deletes reach every query. The other tables only gain rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

KEYS = {
    "catalog_returns": "cr_item_sk, cr_order_number",
    "catalog_sales": "cs_item_sk, cs_order_number",
    "customer": "c_customer_sk",
    "inventory": "inv_date_sk, inv_item_sk, inv_warehouse_sk",
    "store_returns": "sr_item_sk, sr_ticket_number",
    "store_sales": "ss_item_sk, ss_ticket_number",
    "web_returns": "wr_item_sk, wr_order_number",
    "web_sales": "ws_item_sk, ws_order_number",
}
"""The tables whose rows change, and what identifies a row."""
_TABLE = """CREATE TABLE {name} ({columns})
WITH (connector = 'files', path = 'data/{name}') FORMAT PLAIN ENCODE PARQUET;
"""
_NEWEST = """CREATE STREAMING VIEW {name} AS SELECT {columns} FROM (
  SELECT * FROM {name}_log QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY version DESC) = 1
) WHERE NOT deleted;
"""
_SETTINGS = """name = "tpcds"

[run]
shuffle_partitions = 2
"""


class Rows:
    """The rows of all tables, in batches.

    Args:
        generated: what ``generate.py`` wrote.
        project: the folder of the project.
        seed: of what changes; most rows are in the first batch.
    """

    def __init__(self, generated: Path, project: Path, seed: int) -> None:
        self.duck = duckdb.connect()
        self.project, self._seed, self._batch = project, seed, 0
        self.names = sorted(path.stem for path in generated.glob("*.parquet"))
        for name in self.names:
            self.duck.execute(f"CREATE VIEW all_{name} AS FROM '{generated / name}.parquet'")
        self.columns: dict[str, dict[str, str]] = {
            name: {row[0]: row[1] for row in self.duck.execute(f"DESCRIBE all_{name}").fetchall()}
            for name in self.names
        }

    def define(self, queries: Mapping[str, str]) -> None:
        """Write the settings and the statements of the project."""
        (self.project / "headwater.toml").write_text(_SETTINGS)
        (self.project / "views.sql").write_text(self.definitions(queries))

    def definitions(self, queries: Mapping[str, str]) -> str:
        """Return the statements of the tables and of some queries."""
        text = "".join(map(self._definition, self.names))
        return (
            "-- dialect: duckdb\n"
            + text
            + "".join(
                f"CREATE STREAMING VIEW {name} AS\n{query};\n" for name, query in queries.items()
            )
        )

    def _definition(self, name: str) -> str:
        columns = self.columns[name]
        typed = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        if name not in KEYS:
            return _TABLE.format(name=name, columns=typed)
        typed += ", version BIGINT, deleted BOOLEAN"
        log = _TABLE.format(name=f"{name}_log", columns=typed)
        return log + _NEWEST.format(name=name, columns=", ".join(columns), key=KEYS[name])

    def land(self) -> None:
        """Write the next batch: new rows, other versions of some, some deleted."""
        for name in self.names:
            if name in KEYS:
                self._write(f"{name}_log", self._versions(name))
            elif self._batch == 0:
                self._write(name, f"FROM all_{name}")
        self._batch += 1

    def _versions(self, name: str) -> str:
        """Rows of a batch: a tenth is new in each after the first; of the old, 3 % change or go."""
        columns, key = ", ".join(self.columns[name]), KEYS[name]
        others = [each for each in self.columns[name] if each not in key.split(", ")]
        exchanged = ", ".join(f"lead({each}, 7, {each}) OVER w AS {each}" for each in others)
        part = f"(hash({key}, {self._seed}) % 10)::INTEGER"
        change = f"hash({key}, {self._seed}, {self._batch}) % 100"
        first, batch = f"greatest({part} - 6, 0)", self._batch
        return f"""SELECT {columns}, {batch}::BIGINT AS version, false AS deleted
            FROM all_{name} WHERE {first} = {batch}
            UNION ALL BY NAME
            SELECT * EXCLUDE (change, first), {batch} AS version, change = 1 AS deleted FROM (
              SELECT {key}, {exchanged}, {change} AS change, {first} AS first FROM all_{name}
              WINDOW w AS (ORDER BY {key})
            ) WHERE first < {batch} AND change < 3"""

    def _write(self, name: str, rows: str) -> None:
        folder = self.project / "data" / name
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self._batch}.parquet"
        self.duck.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")

    def answers(self) -> duckdb.DuckDBPyConnection:
        """Return a DuckDB whose tables hold what the batches so far amount to."""
        for name in self.names:
            if name not in KEYS:
                self.duck.execute(f"CREATE TABLE IF NOT EXISTS {name} AS FROM all_{name}")
                continue
            newest = f"row_number() OVER (PARTITION BY {KEYS[name]} ORDER BY version DESC) = 1"
            log = f"'{self.project}/data/{name}_log/*.parquet'"
            self.duck.execute(
                f"CREATE OR REPLACE TABLE {name} AS SELECT {', '.join(self.columns[name])}"
                f" FROM (FROM {log} QUALIFY {newest}) WHERE NOT deleted"
            )
        return self.duck
