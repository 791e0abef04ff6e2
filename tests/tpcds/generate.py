"""The tables and the queries of TPC-DS, as DuckDB's extension has them.

In: a folder, a scale. Out: ``TABLE.parquet`` and ``qNN.sql`` there. It runs in the environment of
``requirements.txt``, which has the extension, and imports nothing of ours.

    build/tpcds/bin/python tests/tpcds/generate.py build/tpcds/rows --scale 0.01
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb
import duckdb_ext


def main() -> None:
    """Write everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", type=float, default=0.01)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    extension = next(Path(duckdb_ext.__path__[0]).rglob("tpcds.duckdb_extension"))
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as duck:
        duck.execute(f"LOAD '{extension}'")
        duck.execute(f"CALL dsdgen(sf={options.scale})")
        for (table,) in duck.execute("SHOW TABLES").fetchall():
            duck.execute(f"COPY {table} TO '{options.folder / table}.parquet' (FORMAT parquet)")
        for number, text in duck.execute("SELECT query_nr, query FROM tpcds_queries()").fetchall():
            (options.folder / f"q{number:02}.sql").write_text(text.strip().rstrip(";") + "\n")


if __name__ == "__main__":
    main()
