"""``python jobs/demos/read.py DIR VIEW`` reads a view with PyIceberg, Polars and DuckDB.

Each reader loads the table anew, so it sees one whole commit, the newest, even while a run writes.
Columns that begin with an underscore are Headwater's own.
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("POLARS_ICEBERG_PLANNER", "pyiceberg")  # or Polars warns that it is slower
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import polars  # noqa: E402
from pyiceberg.exceptions import NoSuchTableError  # noqa: E402
from pyiceberg.table import Table  # noqa: E402

from headwater.config.settings import load_config  # noqa: E402
from headwater.serve.lake_reader import open_catalog  # noqa: E402

READERS = {
    "PyIceberg": lambda table: table.scan().to_arrow(),
    "Polars": lambda table: polars.scan_iceberg(table).collect().to_arrow(),
    "DuckDB": lambda table: table.scan().to_duckdb("t").sql("SELECT * FROM t").to_arrow_table(),
}


def load(project: Path, view: str) -> Table:
    """Load a table as it is now; where its catalog is says the project."""
    catalog = open_catalog(config := load_config(project))
    if catalog is None:
        raise NoSuchTableError("nothing is written yet: headwater run --once")
    return catalog.load_table((config.namespace, view))


if __name__ == "__main__":
    for name, read in READERS.items():
        table = load(Path(sys.argv[1]), sys.argv[2])
        print(f"{name}, snapshot {table.current_snapshot().snapshot_id}:")
        print(polars.from_arrow(read(table)).select("^[^_].*$"))
