"""The source files of TPC-DI, few rows, from a seed: the historical load, then batches of changes.

In: a folder, a seed, a scale. Out: files with the names and columns of the specification below
``Batch1`` and ``changes/Batch2``, ``changes/Batch3``, and so on. Actions of CustomerMgmt are
lines. Beyond the specification, FINWIRE goes on in the later batches, trades and prices are
deleted there, and prices are corrected.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random

from tests.tpcdi import reference
from tests.tpcdi.markets import DAY, Market, Trade
from tests.tpcdi.people import People
from tests.tpcdi.reference import Row

FIRST = date(2015, 1, 1)
LAST = date(2017, 7, 7)
"""The day of the historical load."""
_COMPANIES, _CUSTOMERS, _TRADES, _WATCHES = 12, 60, 400, 150
"""At scale 1."""


class SourceFiles:
    """Files that come batch by batch.

    Args:
        folder: below which they are written.
        seed: of all that is random.
        scale: how many times as many rows.
    """

    def __init__(self, folder: Path, seed: int = 1, scale: float = 1) -> None:
        self._folder, self._rnd, self._scale = folder, Random(seed), scale
        self.people = People(self._rnd, FIRST, LAST)
        self.market = Market(self._rnd, self.people, FIRST)
        self.batch, self._cdc = 0, 0
        self._prices: list[Row] = []

    def land(self) -> None:
        """Write the next batch."""
        self.batch += 1
        self._history() if self.batch == 1 else self._changes()

    def _of(self, count: int) -> int:
        return max(3, round(count * self._scale))

    def _history(self) -> None:
        self._reference()
        self._write("BatchDate.txt", [[LAST]])
        self._write("CustomerMgmt.txt", self.people.history(self._of(_CUSTOMERS)))
        self._write("Prospect.csv", self.people.prospects())
        self._finwire_history()
        self._write("DailyMarket.txt", self._market_history())
        done = list(self.market.trades)
        self._write("Trade.txt", map(self.market.row, done))
        self._write("TradeHistory.txt", self._take(self.market.steps))
        deposits = [
            [account.number, _at(account.since), 1000, "deposit"]
            for account in self.people.accounts
        ]
        self._write("CashTransaction.txt", deposits + self._take(self.market.cash))
        self._write("HoldingHistory.txt", self._take(self.market.holdings))
        days = (LAST - FIRST).days
        self._write("WatchHistory.txt", self.market.watches(FIRST, days, self._of(_WATCHES)))

    def _reference(self) -> None:
        self._write("Date.txt", reference.dates())
        self._write("Time.txt", reference.times())
        self._write("StatusType.txt", map(list, reference.STATUS_TYPES))
        self._write("TradeType.txt", map(list, reference.TRADE_TYPES))
        self._write("Industry.txt", map(list, reference.INDUSTRIES))
        self._write("TaxRate.txt", reference.tax_rates(self._rnd))
        self._write("HR.csv", reference.employees(self._rnd))

    def _finwire_history(self) -> None:
        """A file per quarter: companies at first, then news and the results of the last quarter."""
        self._lines("FINWIRE2014Q3", self.market.found(date(2014, 7, 10), self._of(_COMPANIES)))
        quarter = date(2014, 7, 1)
        while (after := _next_quarter(quarter)) < LAST:
            news = list(self.market.news(after + 20 * DAY, 3)) if after + 20 * DAY < LAST else []
            results = self.market.results(quarter, after + 5 * DAY)
            if after < date(2017, 7, 1):
                self._lines(f"FINWIRE{after:%Y}Q{(after.month + 2) // 3}", [*results, *news])
            quarter = after

    def _market_history(self) -> Iterable[Row]:
        """Prices of each day, and trades between them."""
        day, days = FIRST, (LAST - FIRST).days
        chance = self._of(_TRADES) / days
        while day <= LAST:
            self._prices += self.market.prices(day)
            if self._rnd.random() < chance % 1:
                self.market.begin(_at(day))
            for hour in range(int(chance)):
                self.market.begin(_at(day) + timedelta(minutes=hour))
            for trade in self.market.unfinished:
                if self._rnd.random() < 0.4 and trade.at.date() < day:
                    self.market.advance(trade, _at(day) + timedelta(hours=5))
            day += DAY
        return self._prices

    def _changes(self) -> None:
        """What came on the days after the historical load, and what was wrong before."""
        today = LAST + (self.batch - 1) * DAY
        self._write("BatchDate.txt", [[today]])
        customers, accounts = self.people.changes(today, self._of(6))
        self._write("Customer.txt", customers)
        self._write("Account.txt", accounts)
        self._write("Prospect.csv", self.people.prospects())
        half = slice(self.batch % 2, None, 2)
        lines = [*self.market.news(today, 2), *self.market.found(today - DAY, 1)]
        lines += self.market.results(date(2017, 4, 1), today, half)
        self._lines(f"FINWIRE2017Q3-{self.batch}", lines)
        self._write("DailyMarket.txt", self._price_changes(today))
        self._write("Trade.txt", self._trade_changes(today))
        self.market.steps.clear()
        cash = self._flagged(self._take(self.market.cash))
        self._write("CashTransaction.txt", cash)
        self._write("HoldingHistory.txt", self._flagged(self._take(self.market.holdings)))
        self._write("WatchHistory.txt", self._flagged(self.market.watches(today, 1, 30)))

    def _price_changes(self, today: date) -> list[Row]:
        wrong = self._rnd.sample(self._prices, 6)
        corrected = [[*row[:3], Decimal(str(row[3])) + 3, *row[4:]] for row in wrong[:4]]
        new = list(self.market.prices(today))
        self._prices = [row for row in self._prices if row not in wrong] + corrected + new
        deleted = self._flagged(wrong[4:], "D")
        return self._flagged(new) + self._flagged(corrected, "U") + deleted

    def _trade_changes(self, today: date) -> list[Row]:
        old = self.market.unfinished
        rows: list[Row] = []
        for number in range(self._of(10)):
            if trade := self.market.begin(_at(today) + timedelta(minutes=number)):
                rows += self._flagged([self.market.row(trade)])
        for trade in [*old, *self.market.unfinished[len(old) :: 2]]:
            if self._rnd.random() < 0.6:
                self.market.advance(trade, _at(today) + timedelta(hours=5))
                rows += self._flagged([self.market.row(trade)], "U")
        return rows + self._flagged(map(self.market.row, self._mistakes()), "D")

    def _mistakes(self) -> list[Trade]:
        """Two closed trades, which are taken back for good."""
        closed = [each for each in self.market.trades if each not in self.market.unfinished]
        return self._rnd.sample(closed, 2)

    def _flagged(self, rows: Iterable[Row], flag: str = "I") -> list[Row]:
        found = []
        for row in rows:
            self._cdc += 1
            found.append([flag, self._cdc, *row])
        return found

    def _take(self, rows: list[Row]) -> list[Row]:
        taken = list(rows)
        rows.clear()
        return taken

    def _place(self, name: str) -> Path:
        parent = self._folder if self.batch == 1 else self._folder / "changes"
        path = parent / f"Batch{self.batch}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _write(self, name: str, rows: Iterable[Row]) -> None:
        separator = "," if name.endswith(".csv") else "|"
        with self._place(name).open("w", newline="") as file:
            csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)

    def _lines(self, name: str, lines: Iterable[str]) -> None:
        self._place(name).write_text("".join(f"{line}\n" for line in lines))


def _at(day: date) -> datetime:
    return datetime.combine(day, datetime.min.time()) + timedelta(hours=10)


def _next_quarter(day: date) -> date:
    return date(day.year + day.month // 10, (day.month + 2) % 12 + 1, 1)
