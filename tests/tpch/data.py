"""Rows for the tables of TPC-H, few and from small vocabularies, so that every query finds some.

In: a random generator. Out: rows in the order of the columns of ``tables.sql``. Orders come with
their lines; later versions of both change or delete them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

Row = tuple[object, ...]

NATIONS = (
    ("FRANCE", 3), ("GERMANY", 3), ("BRAZIL", 1), ("CANADA", 1), ("CHINA", 2), ("INDIA", 2),
)  # fmt: skip
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE")
SUPPLIERS, PARTS, CUSTOMERS = 8, 30, 25
BRANDS = ("Brand#12", "Brand#23", "Brand#45")
TYPES = (
    "LARGE BRASS", "ECONOMY ANODIZED STEEL", "PROMO BURNISHED TIN", "MEDIUM POLISHED NICKEL",
)  # fmt: skip
CONTAINERS = ("SM CASE", "SM BOX", "MED BOX", "MED BAG")
SIZES = (15, 15, 14, 23, 45, 3)
FIRST = date(1993, 1, 1)


def fixed(rnd: Random) -> dict[str, list[Row]]:
    """Return the rows of the tables that only orders refer to."""
    money = [round(rnd.uniform(-500, 9000), 2) for _ in range(100)]
    return {
        "region": [(n, name) for n, name in enumerate(REGIONS)],
        "nation": [(n, name, region) for n, (name, region) in enumerate(NATIONS)],
        "supplier": [
            (n, f"Supplier#{n}", f"street {n}", n % len(NATIONS), f"{n}-1", money[n],
             rnd.choice(("prompt", "Customer of many Complaints", "quiet")))
            for n in range(SUPPLIERS)
        ],
        "part": [
            (n, rnd.choice(("green lace", "dark green", "red")), f"Manufacturer#{n % 3}",
             rnd.choice(BRANDS), rnd.choice(TYPES), rnd.choice(SIZES), rnd.choice(CONTAINERS))
            for n in range(PARTS)
        ],
        "partsupp": [
            (part, supplier, rnd.randint(1, 80), round(rnd.uniform(1, 100), 2))
            for part in range(PARTS)
            for supplier in rnd.sample(range(SUPPLIERS), 3)
        ],
    }  # fmt: skip


def customers(rnd: Random, after: int, count: int) -> list[Row]:
    """Return some customers with new keys."""
    return [
        (n, f"Customer#{n}", f"road {n}", n % len(NATIONS),
         f"{rnd.choice((13, 31, 23, 29, 11))}-{n}", round(rnd.uniform(-900, 9000), 2),
         rnd.choice(("BUILDING", "MACHINERY")), "regular")
        for n in range(after, after + count)
    ]  # fmt: skip


def orders(
    rnd: Random, version: int, keys: list[int], buyers: int, deleted: bool = False
) -> tuple[list[Row], list[Row]]:
    """Return versions of some orders and of all their lines.

    Args:
        rnd: the generator.
        version: number of the version, higher than those before.
        keys: the keys of the orders.
        buyers: how many customers there are.
        deleted: whether the orders are deleted.
    """
    heads: list[Row] = []
    lines: list[Row] = []
    for key in keys:
        day = FIRST + timedelta(days=rnd.randrange(1400))
        heads.append(
            (version, deleted, key, rnd.randrange(buyers), rnd.choice("FFO"),
             round(rnd.uniform(100, 9000), 2), day, rnd.choice(("1-URGENT", "2-HIGH", "5-LOW")), 0,
             rnd.choice(("special little requests", "none")))
        )  # fmt: skip
        lines += _lines(rnd, version, key, day, deleted)
    return heads, lines


def _lines(rnd: Random, version: int, key: int, day: date, deleted: bool) -> Iterator[Row]:
    for number in range(1, 5):
        shipped = day + timedelta(days=rnd.randint(1, 90))
        promised = day + timedelta(days=rnd.randint(20, 80))
        received = shipped + timedelta(days=rnd.randint(1, 25))
        yield (
            version, deleted, key, number, rnd.randrange(PARTS), rnd.randrange(SUPPLIERS),
            float(rnd.randint(1, 50)), round(rnd.uniform(100, 9000), 2), rnd.randrange(11) / 100,
            rnd.randrange(9) / 100, rnd.choice("RAN"), rnd.choice("OF"), shipped, promised,
            received, "NONE", rnd.choice(("MAIL", "SHIP", "AIR")),
        )  # fmt: skip
