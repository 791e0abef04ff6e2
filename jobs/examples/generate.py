"""Write the events of an example as JSON-lines files below its project.

``NAME.sql`` beside this file makes a table for each input of ``sql/NAME``. The column ``_arrivals``
lists when a row arrives: files are in that order, so rows are as late as they are in life, and a
row that arrives twice is there twice. One line in 2,000 is cut, as a producer that crashes leaves
it. The variable ``files`` says how many files an input becomes: each is at least one epoch.
"""

import shutil
from pathlib import Path

import duckdb

HERE = Path(__file__).parent
SQL = HERE.parents[1] / "sql"
FILES = 8
COLUMNS = """SELECT table_name, string_agg(column_name || ' := ' || CASE data_type
  WHEN 'TIMESTAMP WITH TIME ZONE' THEN printf('strftime(%s, ''%s'')', column_name, $1)
  ELSE column_name END, ', ' ORDER BY column_index) FILTER (column_name <> '_arrivals')
FROM duckdb_columns() GROUP BY table_name HAVING bool_or(column_name = '_arrivals')"""
LINES = """CREATE OR REPLACE TEMP TABLE lines AS
SELECT line, row_number() OVER (ORDER BY arrival, number) AS number
FROM (
  SELECT unnest(_arrivals) AS arrival, row_number() OVER () AS number,
    to_json(struct_pack({columns}))::VARCHAR AS line
  FROM {table}
)"""
FILE = """COPY (
  SELECT CASE hash(number, getvariable('seed')) % 2000
    WHEN 0 THEN left(line, len(line) // 2) ELSE line END
  FROM lines WHERE number > {after} AND number <= {after} + {rows} ORDER BY number
) TO '{path}' (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\\x01')"""


def generate(
    example: str,
    size: str = "small",
    seed: int = 1,
    project: Path | None = None,
    files: int | None = None,
) -> int:
    """Write ``data/`` below the project, and return its number of lines.

    Data of this size and seed remain as they are. Data of another size or seed are replaced, and
    the lake that was made of them is deleted.

    Args:
        example: its name.
        size: ``small`` or ``full``.
        seed: of its random numbers.
        project: its folder, if not the one below ``sql/``.
        files: how many files each input becomes, if not as many as the example says.
    """
    project = project or SQL / example
    data, made = project / "data", f"{size} {seed}"
    done = data / ".made"
    if not done.exists() or done.read_text().rpartition(" ")[0] != made:
        shutil.rmtree(data, ignore_errors=True)
        shutil.rmtree(project / ".headwater", ignore_errors=True)
        data.mkdir(parents=True)
        done.write_text(f"{made} {_write(example, size, seed, data, files)}")
    return int(done.read_text().rpartition(" ")[2])


def _write(example: str, size: str, seed: int, data: Path, files: int | None) -> int:
    written = 0
    with duckdb.connect() as db:
        db.execute("SET VARIABLE size = $1", [size])
        db.execute("SET VARIABLE seed = $1", [seed])
        db.execute("SET VARIABLE files = $1", [FILES])
        for script in ("macros", example):
            db.execute((HERE / f"{script}.sql").read_text())
        files = files or db.execute("SELECT getvariable('files')").fetchall()[0][0]
        for table, columns in db.execute(COLUMNS, ["%Y-%m-%dT%H:%M:%S.%gZ"]).fetchall():
            db.execute(LINES.format(table=table, columns=columns))
            lines = db.table("lines").count("*").fetchall()[0][0]
            written += lines
            rows = -(-lines // files)
            (data / table).mkdir()
            for file in range(files):
                path = data / table / f"{file + 1:03}.json"
                db.execute(FILE.format(after=file * rows, rows=rows, path=path))
    return written
