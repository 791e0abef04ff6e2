"""The workloads: the same question over the same JSON lines, as SQL of Headwater and of DuckDB.

In: a number of rows. Out: folders of JSON-lines files, the same bytes whenever they are made, and
per workload the texts that each way runs. The Spark code by hand is in ``by_hand.py``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import duckdb

MOMENT = "%Y-%m-%dT%H:%M:%S.%gZ"
CLOSING = "2026-01-01T00:00:00.000Z"
"""Event time of the last row, which closes the windows before it, also in the job by hand."""

COLUMNS = {
    "orders": {
        "order_id": "BIGINT",
        "customer": "VARCHAR",
        "product": "VARCHAR",
        "quantity": "INTEGER",
        "price": "DOUBLE",
        "status": "VARCHAR",
        "ordered_at": "TIMESTAMP WITH TIME ZONE",
    },
    "payments": {
        "payment_id": "BIGINT",
        "order_id": "BIGINT",
        "method": "VARCHAR",
        "amount": "DOUBLE",
        "paid_at": "TIMESTAMP WITH TIME ZONE",
    },
}
EVENT_TIME = {"orders": "ordered_at", "payments": "paid_at"}

# A thousand orders a second, each up to 20 seconds late; paid within two minutes.
ROWS = {
    "orders": f"""
      SELECT i AS order_id, 'customer-' || h % 50000 AS customer,
        'product-' || h // 7 % 200 AS product,
        (h // 11 % 9 + 1)::INTEGER AS quantity, h // 13 % 100000 / 100 AS price,
        ['open', 'paid', 'shipped', 'returned'][h // 17 % 4 + 1] AS status,
        strftime(epoch_ms(1735689600000 + i - h // 19 % 20000), '{MOMENT}') AS ordered_at
      FROM (SELECT range AS i, (hash(range) // 2)::BIGINT AS h FROM range($first, $last))
      ORDER BY i""",
    "payments": f"""
      SELECT i AS payment_id, i - h % 120000 AS order_id,
        ['card', 'cash', 'transfer'][h // 7 % 3 + 1] AS method, h // 13 % 100000 / 100 AS amount,
        strftime(epoch_ms(1735689600000 + i), '{MOMENT}') AS paid_at
      FROM (SELECT range AS i, (hash(range, 1) // 2)::BIGINT AS h FROM range($first, $last))
      ORDER BY i""",
}
LAST_ROW = {
    "orders": "SELECT -1 AS order_id, 'nobody' AS customer, 'nothing' AS product, 0 AS quantity,"
    f" 0 AS price, 'open' AS status, '{CLOSING}' AS ordered_at",
    "payments": "SELECT -1 AS payment_id, -2 AS order_id, 'none' AS method, 0 AS amount,"
    f" '{CLOSING}' AS paid_at",
}


@dataclass(frozen=True, slots=True)
class Workload:
    """One question.

    Attributes:
        name: its name, that of the view and of its table.
        inputs: the streams it reads.
        share: its rows per stream, as a share of the rows asked for; state makes rows dear.
        columns: columns of the answer.
        view: the view in Headwater's language, without its name.
        batch: the same SELECT for DuckDB over relations named as the inputs.
        comparable: condition on the answer's rows that every way must have.
    """

    name: str
    inputs: tuple[str, ...]
    share: float
    columns: str
    view: str
    batch: str
    comparable: str = "true"


FILTER = Workload(
    "filter_project",
    ("orders",),
    1.0,
    "order_id BIGINT, customer STRING, revenue DOUBLE, ordered_at TIMESTAMP",
    """SELECT order_id, customer, quantity * price AS revenue, ordered_at FROM orders
       WHERE status = 'paid' AND quantity >= 3""",
    """SELECT order_id, customer, quantity * price AS revenue, ordered_at FROM orders
       WHERE status = 'paid' AND quantity >= 3""",
)
WINDOW = Workload(
    "window_count",
    ("orders",),
    1.0,
    "product STRING, window_start TIMESTAMP, orders BIGINT",
    """SELECT product, window_start, count(*) AS orders
       FROM TUMBLE(orders, ordered_at, INTERVAL '10' SECOND)
       GROUP BY product, window_start
       EMIT ON WINDOW CLOSE""",
    """SELECT product, time_bucket(INTERVAL '10 seconds', ordered_at) AS window_start,
         count(*) AS orders FROM orders GROUP BY ALL""",
    f"window_start < TIMESTAMPTZ '{CLOSING}'",
)
JOIN = Workload(
    "interval_join",
    ("orders", "payments"),
    0.2,
    "order_id BIGINT, customer STRING, method STRING, amount DOUBLE, paid_at TIMESTAMP",
    """SELECT o.order_id, o.customer, p.method, p.amount, p.paid_at
       FROM orders AS o JOIN payments AS p
         ON p.order_id = o.order_id
         AND p.paid_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL '2' MINUTE""",
    """SELECT o.order_id, o.customer, p.method, p.amount, p.paid_at
       FROM orders AS o JOIN payments AS p
         ON p.order_id = o.order_id
         AND p.paid_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL '2 minutes'""",
)
WORKLOADS = {workload.name: workload for workload in (FILTER, WINDOW, JOIN)}


@dataclass(frozen=True, slots=True)
class Input:
    """The files of one workload at one size.

    Attributes:
        folder: holds a folder per stream.
        files: files per stream; the last one has the closing row only.
        per_batch: files of one micro-batch.
        rows: rows of all streams.
    """

    folder: Path
    files: int
    per_batch: int
    rows: int

    @property
    def batches(self) -> int:
        """Micro-batches with data."""
        return -(-self.files // self.per_batch)


def make_input(root: Path, workload: Workload, rows: int, files: int, per_batch: int) -> Input:
    """Write the files of a workload, unless they are there.

    Args:
        root: folder of all inputs.
        workload: what reads them.
        rows: rows per stream.
        files: files per stream, besides the one that closes the windows.
        per_batch: files of one micro-batch.
    """
    folder = root / f"{workload.name}-{rows}-{files}"
    if not folder.exists():
        unfinished = folder.with_suffix(".tmp")
        with duckdb.connect() as db:
            for name in workload.inputs:
                _write(db, unfinished / name, name, rows, files)
        unfinished.rename(folder)
    return Input(folder, files + 1, per_batch, (rows + 1) * len(workload.inputs))


def _write(db: duckdb.DuckDBPyConnection, folder: Path, name: str, rows: int, files: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files + 1):
        file = folder / f"{number:05}.json"
        if number < files:
            bounds = {"first": rows * number // files, "last": rows * (number + 1) // files}
            db.execute(f"COPY ({ROWS[name]}) TO '{file}' (FORMAT json)", bounds)
        else:
            db.execute(f"COPY ({LAST_ROW[name]}) TO '{file}' (FORMAT json)")
        os.utime(file, (1.7e9 + number, 1.7e9 + number))  # streams take files by age


def definitions(workload: Workload, given: Input, *, landed: bool) -> str:
    """Return a project of Headwater that answers a workload.

    Args:
        workload: the workload.
        given: its files.
        landed: whether the rows are kept in the lake first.
    """
    parts = []
    for name in workload.inputs:
        columns = ",\n  ".join(f"{column} {kind}" for column, kind in COLUMNS[name].items())
        time = EVENT_TIME[name]
        parts.append(
            f"CREATE {'TABLE' if landed else 'SOURCE'} {name} (\n  {columns},\n"
            f"  WATERMARK FOR {time} AS {time} - INTERVAL '30' SECOND\n) WITH (\n"
            f"  connector = 'files', path = '{given.folder / name}',\n"
            f"  max_files_per_epoch = {given.per_batch}\n) FORMAT PLAIN ENCODE JSON;"
        )
    parts.append(f"CREATE STREAMING VIEW {workload.name} AS\n{workload.view};")
    return "\n\n".join(parts) + "\n"


def batch_sql(workload: Workload, given: Input) -> str:
    """Return DuckDB's SELECT over the files.

    Args:
        workload: the workload.
        given: its files.
    """
    inputs = [
        f"{name} AS (SELECT * FROM read_json('{given.folder / name}/*.json',"
        f" format = 'newline_delimited', columns = {COLUMNS[name]}))"
        for name in workload.inputs
    ]
    return f"WITH {', '.join(inputs)}\n{workload.batch}"
