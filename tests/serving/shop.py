"""The shop of ``sql/shop`` over files: rows whenever a test wants some, without a database.

In: a folder. Out: a project with the example's views and charts, and files that change its tables.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "sql" / "shop"
_KAFKA = re.compile(
    r"connector = 'kafka', topic = 'shop\.public\.(\w+)', bootstrap_servers = '.*?'"
)
_FORMAT = re.compile(r"FORMAT DEBEZIUM ENCODE JSON(?: \(.*?\))?")
_IN_DELTA = """CREATE STREAMING VIEW pieces_per_product WITH (format = 'delta') AS
SELECT product_id, sum(quantity) AS pieces FROM orders GROUP BY product_id;
"""
_CITIES = ("Bergen", "Lyon", "Porto", "Graz", "Turku")
_NAMES = ("Ada", "Bo", "Cleo", "Dag", "Eva", "Finn", "Gro", "Hal", "Ida", "Jon", "Kai", "Liv")
_THINGS = ("Lamp", "Chair", "Kettle", "Clock", "Rug", "Mirror", "Shelf", "Vase")


def copied(folder: Path) -> Path:
    """Copy the example with its charts, and return the folder."""
    shutil.copytree(EXAMPLE, folder)
    shutil.copytree(EXAMPLE.parents[1] / "dashboards" / "shop", folder / "dashboards")
    settings = (folder / "headwater.toml").read_text()
    (folder / "headwater.toml").write_text(settings.replace("../../dashboards/shop", "dashboards"))
    return folder


class Shop:
    """A project, and what happens in the shop.

    Args:
        folder: of the project; made.
        settings: what headwater.toml says beside the example's.
    """

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        self._random = random.Random(7)
        self._orders = self._files = 0
        copied(folder)
        with (folder / "headwater.toml").open("a") as toml:
            toml.write(settings)
        tables = (EXAMPLE / "tables.sql").read_text()
        tables = _KAFKA.sub(r"connector = 'files', path = 'data/\1'", tables)
        (folder / "tables.sql").write_text(_FORMAT.sub("FORMAT UPSERT ENCODE JSON", tables))
        (folder / "in_delta.sql").write_text(_IN_DELTA)
        now = datetime.now(UTC)
        self._write("customers", (_customer(n, now) for n in range(len(_NAMES))))
        self._write("products", (_product(n, now) for n in range(len(_THINGS))))

    def sell(self, orders: int, minutes: int = 30) -> None:
        """Place orders, spread over the last minutes."""
        now = datetime.now(UTC)
        steps = sorted(self._random.random() for _ in range(orders))
        self._write(
            "orders", [self._order(now - timedelta(minutes=minutes * (1 - s))) for s in steps]
        )

    def _order(self, placed: datetime) -> dict[str, object]:
        self._orders += 1
        quantity = self._random.choice((1, 1, 1, 2, 3))
        return {
            "id": self._orders,
            "customer_id": min(int(self._random.expovariate(0.3)), len(_NAMES) - 1),
            "product_id": self._random.randrange(len(_THINGS)),
            "quantity": quantity,
            "amount": f"{quantity * self._random.choice((19.9, 34.5, 79, 120)):.2f}",
            "status": self._random.choice(("placed", "placed", "shipped", "cancelled")),
            "placed_at": placed.isoformat(),
            "changed_at": placed.isoformat(),
        }

    def _write(self, table: str, rows: Iterable[dict[str, object]]) -> None:
        self._files += 1
        target = self.folder / "data" / table / f"{self._files:05}.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_suffix(".part")
        draft.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        draft.rename(target)


def _customer(number: int, now: datetime) -> dict[str, object]:
    city = _CITIES[number % len(_CITIES)]
    return {"id": number, "name": _NAMES[number], "city": city, "changed_at": now.isoformat()}


def _product(number: int, now: datetime) -> dict[str, object]:
    return {
        "id": number,
        "name": _THINGS[number],
        "price": "19.90",
        "stock": number * 3,
        "reorder_at": 8,
        "changed_at": now.isoformat(),
    }
