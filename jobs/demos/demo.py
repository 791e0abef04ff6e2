"""The demo: seed ``sql/flights``, run it once, show tables and status, verify the law."""

import subprocess
import sys
from pathlib import Path

from jobs.demos.seed import PROJECT, seed

HEADWATER = Path(sys.executable).with_name("headwater")
TABLES = {
    "The busiest hours, final once closed": "SELECT * FROM departures_per_hour "
    "ORDER BY departures DESC, window_start, origin LIMIT 5",
    "Flights that left after their hour was closed": "SELECT origin, count(*) AS late_departures, "
    "max(delay) AS longest_delay FROM late_departures GROUP BY origin ORDER BY origin",
    "Delay per carrier, corrected with every batch": "SELECT * FROM delays_by_carrier "
    "ORDER BY mean_delay DESC LIMIT 5",
    "Most planes per destination and day": "SELECT * FROM planes_per_day "
    "ORDER BY planes DESC, dest, day LIMIT 5",
    "Departures joined with their landings": "SELECT carrier, count(*) AS journeys, "
    "avg(landing_delay - departure_delay) AS lost_on_the_way FROM journeys "
    "GROUP BY carrier ORDER BY journeys DESC LIMIT 5",
    "A view on a view": "SELECT * FROM departures_per_day ORDER BY delayed DESC LIMIT 5",
}


def headwater(*arguments: str) -> None:
    """Run one command of the command line on the demo's project; stop the demo if it fails."""
    subprocess.run([HEADWATER, "--project", PROJECT, *arguments], check=True)


if __name__ == "__main__":
    seed()
    headwater("run", "--once", "--end-of-input")
    for title, query in TABLES.items():
        print(f"\n{title}", flush=True)
        headwater("sql", query)
    headwater("status")
    headwater("verify")
