"""What the source files of TPC-DI draw from: small vocabularies, and rows that never change.

In: nothing, or a random generator. Out: rows in the order of the columns of ``tables.sql``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

Row = list[object]

STATUS_TYPES = (
    ("ACTV", "Active"), ("CMPT", "Completed"), ("CNCL", "Canceled"),
    ("PNDG", "Pending"), ("SBMT", "Submitted"), ("INAC", "Inactive"),
)  # fmt: skip
TRADE_TYPES = (
    ("TMB", "Market Buy", 0, 1), ("TMS", "Market Sell", 1, 1), ("TSL", "Stop Loss", 1, 0),
    ("TLS", "Limit Sell", 1, 0), ("TLB", "Limit Buy", 0, 0),
)  # fmt: skip
INDUSTRIES = (
    ("AM", "Aerospace", "BM"), ("BK", "Banks", "FN"), ("CH", "Chemicals", "BM"),
    ("EN", "Energy", "EN"), ("FO", "Food", "NC"), ("SW", "Software", "TC"),
)  # fmt: skip
NATIONS = ("US", "CA", "DE")
TAX_CODES = tuple(f"{nation}{number}" for nation in NATIONS for number in range(1, 4))
RATINGS = ("AAA", "AA-", "A", "BBB+", "BBB-", "BB", "B-", "CCC", "D", "ZZZ", "")
"""Two of them are no ratings."""
FIRST_NAMES = ("Ada", "Ben", "Chen", "Dora", "Emil", "Fatma", "Goran", "Hana")
LAST_NAMES = ("Abel", "Berg", "Costa", "Duval", "Eklund", "Fischer", "Garcia", "Haddad")
CITIES = (("Malmo", "SK"), ("Porto", "PT"), ("Leeds", "LS"), ("Turin", "TO"))
BROKER = 314
EMPLOYEES = 40


def dates() -> Iterator[Row]:
    """Yield the rows of the calendar, 1950 to 2020."""
    day = date(1950, 1, 1)
    while day.year <= 2020:
        quarter = (day.month - 1) // 3 + 1
        fiscal_year, fiscal_quarter = day.year + (quarter > 2), (quarter + 1) % 4 + 1
        yield [
            day.strftime("%Y%m%d"), day, day.strftime("%B %d %Y"), day.year,
            day.year * 10 + quarter, day.year * 100 + day.month, day.isoweekday(),
            day.strftime("%A"), fiscal_year, fiscal_year * 10 + fiscal_quarter,
            str((day.month, day.day) in {(1, 1), (12, 25)}).lower(),
        ]  # fmt: skip
        day += timedelta(days=1)


def times() -> Iterator[Row]:
    """Yield the seconds of a day."""
    for at in range(86_400):
        hour, minute, second = at // 3600, at // 60 % 60, at % 60
        yield [
            at, f"{hour:02}:{minute:02}:{second:02}", hour, minute, second,
            str(34_200 <= at < 57_600).lower(), str(8 <= hour < 18).lower(),
        ]  # fmt: skip


def tax_rates(rnd: Random) -> Iterator[Row]:
    """Yield the tax rates."""
    for code in TAX_CODES:
        yield [code, f"Tax of {code[:2]}, band {code[2]}", f"{rnd.randint(1000, 45000) / 1e5:.5f}"]


def employees(rnd: Random) -> Iterator[Row]:
    """Yield the employees; those with an even number are brokers."""
    for number in range(EMPLOYEES):
        yield [
            number, number // 8, rnd.choice(FIRST_NAMES), rnd.choice(LAST_NAMES),
            rnd.choice(("K", None)), BROKER if number % 2 == 0 else rnd.choice((313, 530)),
            rnd.choice(CITIES)[0], f"OFFICE{number % 5}", f"(0{rnd.randint(10, 99)}) 55-{number}",
        ]  # fmt: skip
