"""Companies, prices, trades and what follows from trades, as TPC-DI's source files tell of them.

In: a random generator, the people. Out: rows in the order of the columns of ``tables.sql``, and
the lines of FINWIRE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random

from tests.tpcdi.people import Account, People
from tests.tpcdi.reference import CITIES, INDUSTRIES, RATINGS, TRADE_TYPES, Row

DAY = timedelta(days=1)
_CENT = Decimal("0.01")


@dataclass
class Company:
    """A company and its security."""

    number: int
    price: Decimal
    since: date

    @property
    def symbol(self) -> str:
        """The symbol of the security."""
        return f"S{self.number:05}"


@dataclass
class Trade:
    """A trade as it is now; `at` is the time of its last step."""

    number: int
    kind: str
    account: Account
    company: Company
    at: datetime
    status: str
    quantity: int
    bid: Decimal
    price: Decimal | None = None
    shares: tuple[object, ...] = (None, None, None)
    """Fee, commission and tax."""


class Market:
    """A market that goes on.

    Args:
        rnd: the generator.
        people: who trades.
        first: the day on which prices begin.
    """

    def __init__(self, rnd: Random, people: People, first: date) -> None:
        self._rnd, self._people, self._first = rnd, people, first
        self.companies: list[Company] = []
        self.trades: list[Trade] = []
        self._open: list[Trade] = []
        self._watched: set[tuple[int, str]] = set()
        self._watching: list[tuple[int, str]] = []
        self._holdings: dict[tuple[int, str], tuple[int, int]] = {}
        self.cash: list[Row] = []
        self.holdings: list[Row] = []
        self.steps: list[Row] = []
        """What trades that were completed leave behind, until a batch takes it."""

    def found(self, today: date, count: int) -> Iterator[str]:
        """Yield the lines of new companies and their securities."""
        for _ in range(count):
            company = Company(len(self.companies), Decimal(self._rnd.randint(20, 90)), today + DAY)
            self.companies.append(company)
            yield self._company(company, today)
            yield self._security(company, today)

    def news(self, today: date, count: int) -> Iterator[str]:
        """Yield the lines of some companies and securities that change."""
        for company in self._rnd.sample(self.companies, count):
            yield self._company(company, today)
        for company in self._rnd.sample(self.companies, count):
            yield self._security(company, today)

    def results(self, quarter: date, today: date, part: slice = slice(None)) -> Iterator[str]:
        """Yield the lines of the results of a quarter."""
        rnd = self._rnd
        for company in self.companies[part]:
            if company.number % 9 == 5 or company.since > quarter:
                continue
            eps = f"{rnd.choice((-30, 10, 20, 60, 90)) / 100:12.2f}"
            large = "".join(f"{rnd.randrange(10**9) / 100:17.2f}" for _ in range(2))
            wealth = "".join(f"{rnd.randrange(10**9) / 100:17.2f}" for _ in range(3))
            yield (
                f"{today:%Y%m%d}-190000FIN{quarter:%Y}{(quarter.month + 2) // 3}{quarter:%Y%m%d}"
                f"{today:%Y%m%d}{large}{eps}{eps}{0.25:12.2f}{wealth}"
                f"{10_000:13}{12_000:13}{self._name(company)}"
            )

    def prices(self, today: date) -> Iterator[Row]:
        """Yield the prices of a day."""
        rnd = self._rnd
        for company in self.companies:
            if company.since > today:
                continue
            step = Decimal(rnd.choice((-2, -1, -1, 0, 0, 1, 1, 2))) / 2
            company.price = max(Decimal(5), company.price + step)
            yield [
                today, company.symbol, company.price.quantize(_CENT),
                (company.price + Decimal(rnd.randrange(3)) / 2).quantize(_CENT),
                (company.price - Decimal(rnd.randrange(3)) / 2).quantize(_CENT),
                rnd.randrange(10_000),
            ]  # fmt: skip

    def begin(self, at: datetime) -> Trade | None:
        """Return a new trade, if an account and a security are there."""
        rnd = self._rnd
        account, company = rnd.choice(self._people.accounts), rnd.choice(self.companies)
        if account.since > at.date() or company.since > at.date():
            return None
        kind, _, _, is_market = rnd.choice(TRADE_TYPES)
        trade = Trade(
            len(self.trades), kind, account, company, at, "SBMT" if is_market else "PNDG",
            rnd.randint(1, 9) * 10, company.price,
        )  # fmt: skip
        self.trades.append(trade)
        self._open.append(trade)
        self._note(trade)
        return trade

    def advance(self, trade: Trade, at: datetime) -> None:
        """Bring a trade one step further."""
        rnd = self._rnd
        trade.at = at
        trade.status = "SBMT" if trade.status == "PNDG" else rnd.choice(("CMPT",) * 5 + ("CNCL",))
        self._note(trade)
        if trade.status == "SBMT":
            return
        self._open.remove(trade)
        if trade.status == "CMPT":
            self._complete(trade)

    @property
    def unfinished(self) -> list[Trade]:
        """The trades that are not closed."""
        return list(self._open)

    def row(self, trade: Trade) -> Row:
        """Return a trade as the files have it."""
        return [
            trade.number, trade.at, trade.status, trade.kind, trade.number % 3 and 1,
            trade.company.symbol, trade.quantity, trade.bid.quantize(_CENT), trade.account.number,
            f"trader {trade.number % 7}", trade.price and trade.price.quantize(_CENT),
            *trade.shares,
        ]  # fmt: skip

    def watches(self, first: date, days: int, count: int) -> list[Row]:
        """Return new watches, and the ends of some."""
        rnd = self._rnd
        rows: list[Row] = []
        for _ in range(count):
            customer, company = rnd.choice(self._people.customers), rnd.choice(self.companies)
            pair = (customer.number, company.symbol)
            at = _noon(first, rnd.randrange(days))
            if pair in self._watched or max(customer.since, company.since) > at.date():
                continue
            self._watched.add(pair)
            self._watching.append(pair)
            rows.append([*pair, at, "ACTV"])
        for pair in rnd.sample(self._watching, len(self._watching) // 4):
            self._watching.remove(pair)
            rows.append([*pair, _noon(first, days), "CNCL"])
        return sorted(rows, key=lambda row: str(row[2]))

    def _note(self, trade: Trade) -> None:
        self.steps.append([trade.number, trade.at, trade.status])

    def _complete(self, trade: Trade) -> None:
        rnd = self._rnd
        trade.price = trade.bid + Decimal(rnd.randrange(-2, 3)) / 2
        worth = trade.price * trade.quantity
        fee, commission = (worth * rnd.choice((1, 1, 1, 2, 120)) / 100 for _ in range(2))
        trade.shares = tuple(x.quantize(_CENT) for x in (fee, commission, worth / 50))
        sells = trade.kind in {"TMS", "TSL", "TLS"}
        amount = (worth if sells else -worth).quantize(_CENT)
        self.cash.append([trade.account.number, trade.at, amount, f"trade {trade.number}"])
        place = (trade.account.number, trade.company.symbol)
        first, before = self._holdings.get(place, (trade.number, 0))
        after = before + (-trade.quantity if sells else trade.quantity)
        self.holdings.append([first, trade.number, before, after])
        self._holdings[place] = (first, after)

    def _name(self, company: Company) -> str:
        """How a record names a company: by its number or by its name."""
        return self._rnd.choice((f"{company.number:010}", f"Company {company.number}".ljust(60)))

    def _company(self, company: Company, today: date) -> str:
        rnd = self._rnd
        city, state = rnd.choice(CITIES)
        return (
            f"{today:%Y%m%d}-090000CMP{f'Company {company.number}':60}{company.number:010}"
            f"{rnd.choice(('ACTV', 'ACTV', 'INAC'))}{rnd.choice(INDUSTRIES)[0]:2}"
            f"{rnd.choice(RATINGS):4}{rnd.choice(('19810203', '        '))}"
            f"{f'{company.number} Quay':80}{'':80}{rnd.randrange(9):012}{city:25}{state:20}"
            f"{rnd.choice(('Sweden', '')):24}{f'Chief {rnd.randrange(99)}':46}{'Makes things':150}"
        )

    def _security(self, company: Company, today: date) -> str:
        rnd = self._rnd
        return (
            f"{today:%Y%m%d}-100000SEC{company.symbol:15}{rnd.choice(('COMMON', 'PREF_A')):6}"
            f"{rnd.choice(('ACTV', 'INAC'))}{f'Share of {company.number}':70}"
            f"{rnd.choice(('NYSE', 'NASDAQ')):6}{rnd.randrange(10**6):13}2001020320010405"
            f"{rnd.randrange(300) / 100:12.2f}{self._name(company)}"
        )


def _noon(first: date, days: int) -> datetime:
    return datetime.combine(first + days * DAY, datetime.min.time()) + timedelta(hours=12)
