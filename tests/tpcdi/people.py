"""Customers, their accounts and prospects, as TPC-DI's source files tell of them.

In: a random generator. Out: rows in the order of the columns of ``tables.sql``. The history is
actions, which hold what changed; the later batches hold whole rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random

from tests.tpcdi.reference import (
    CITIES,
    EMPLOYEES,
    FIRST_NAMES,
    LAST_NAMES,
    NATIONS,
    TAX_CODES,
    Row,
)

CUSTOMER = (
    "tax_id", "l_name", "f_name", "m_name", "gndr", "tier", "dob", "adline1", "adline2",
    "zipcode", "city", "state_prov", "ctry", "ctry_1", "area_1", "local_1", "ext_1", "ctry_2",
    "area_2", "local_2", "ext_2", "ctry_3", "area_3", "local_3", "ext_3", "email_1", "email_2",
    "lcl_tx_id", "nat_tx_id",
)  # fmt: skip
"""The columns of a customer, after its number."""
ACCOUNT = ("b_id", "name", "tax_st")
_ACTIONS = ("UPDCUST", "UPDCUST", "UPDCUST", "ADDACCT", "ADDACCT", "UPDACCT", "CLOSEACCT", "INACT")


@dataclass
class Account:
    """An account as it is now; `since` is its first day."""

    number: int
    customer: int
    since: date
    now: dict[str, object]
    status: str = "ACTV"


@dataclass
class Customer:
    """A customer as it is now; `since` is its first day."""

    number: int
    since: date
    now: dict[str, object]
    status: str = "ACTV"
    accounts: list[Account] = field(default_factory=list)


class People:
    """Customers and accounts that come and change.

    Args:
        rnd: the generator.
        first: the day on which the history begins.
        today: the day of the historical load.
    """

    def __init__(self, rnd: Random, first: date, today: date) -> None:
        self._rnd, self._first, self._today = rnd, first, today
        self.customers: list[Customer] = []
        self.accounts: list[Account] = []
        self._prospects: dict[int, Row] = {}
        self._cdc = 0

    def history(self, count: int) -> list[Row]:
        """Return the actions of so many customers, in order of time."""
        actions = [row for _ in range(count) for row in self._life()]
        return sorted(actions, key=lambda row: (str(row[1]), str(row[2])))

    def changes(self, today: date, count: int) -> tuple[list[Row], list[Row]]:
        """Return so many changed and new customers, and changed and new accounts."""
        people: list[Row] = []
        accounts: list[Row] = []
        for customer in self._rnd.sample(self.customers, count):
            customer.now |= self._some(self._customer(customer.number))
            customer.status = self._rnd.choice(("ACTV", "ACTV", customer.status, "INAC"))
            people.append(self._whole("U", customer))
        for account in self._rnd.sample(self.accounts, count):
            account.now |= self._some(self._account())
            account.status = self._rnd.choice(("ACTV", "ACTV", "INAC"))
            accounts.append(self._whole_account("U", account))
        for _ in range(max(2, count // 3)):
            customer = self._enter(today)
            people.append(self._whole("I", customer))
            accounts.append(self._whole_account("I", customer.accounts[0]))
        return people, accounts

    def prospects(self) -> list[Row]:
        """Return all prospects of a batch: most as before, some changed, gone or new."""
        rnd = self._rnd
        for number in list(self._prospects):
            kind = rnd.random()
            if kind < 0.04:
                del self._prospects[number]
            elif kind < 0.12:
                self._prospects[number][12:] = self._wealth()
        for customer in self.customers:
            if customer.number not in self._prospects and rnd.random() < 0.4:
                self._prospects[customer.number] = self._prospect(customer)
        stranger = 100_000 + len(self._prospects)
        for number in range(stranger, stranger + len(self.customers) // 4):
            self._prospects[number] = self._prospect(
                Customer(number, self._today, self._customer(number))
            )
        return [self._prospects[number] for number in sorted(self._prospects)]

    def _life(self) -> Iterator[Row]:
        """Yield the actions of a new customer, from its first account on."""
        rnd = self._rnd
        at = self._moment(self._first, 700)
        customer = self._enter(at.date())
        yield self._action("NEW", at, customer, customer.now, customer.accounts[0])
        for _ in range(rnd.randrange(6)):
            at += timedelta(
                seconds=rnd.choice((3_600, 86_400 * 30, 86_400 * 90)) + rnd.randrange(99)
            )
            if at.date() >= self._today or customer.status == "INAC":
                return
            yield self._next(customer, at)

    def _next(self, customer: Customer, at: datetime) -> Row:
        rnd, kind = self._rnd, self._rnd.choice(_ACTIONS)
        if kind == "UPDCUST":
            changed = self._some(self._customer(customer.number))
            customer.now |= changed
            return self._action(kind, at, customer, changed)
        if kind == "INACT":
            customer.status = "INAC"
            return self._action(kind, at, customer, {})
        if kind == "ADDACCT":
            return self._action(kind, at, customer, {}, self._open(customer, at.date()))
        account = rnd.choice(customer.accounts)
        if kind == "CLOSEACCT":
            account.status = "INAC"
            return self._action(kind, at, customer, {}, account, changed={})
        changed = self._some(self._account())
        account.now |= changed
        return self._action(kind, at, customer, {}, account, changed=changed)

    def _enter(self, today: date) -> Customer:
        number = len(self.customers)
        customer = Customer(number, today, self._customer(number))
        self.customers.append(customer)
        self._open(customer, today)
        return customer

    def _open(self, customer: Customer, today: date) -> Account:
        account = Account(len(self.accounts), customer.number, today, self._account())
        self.accounts.append(account)
        customer.accounts.append(account)
        return account

    def _customer(self, number: int) -> dict[str, object]:
        rnd = self._rnd
        city, state = rnd.choice(CITIES)
        born = date(rnd.randrange(1930, 2000), rnd.randint(1, 12), rnd.randint(1, 28))
        values = [
            f"{number:09}", rnd.choice(LAST_NAMES), rnd.choice(FIRST_NAMES),
            rnd.choice(("K", "m", None)), rnd.choice(("M", "F", "m", "f", "x", None)),
            rnd.choice((1, 2, 3, 3, 9, None)),
            rnd.choice((date(1911, 2, 3), date(2031, 4, 5), *[born] * 20)),
            f"{number} Mill Road", rnd.choice((f"Apt. {rnd.randrange(9)}", None)),
            f"{rnd.randrange(9):05}", city, state, rnd.choice(NATIONS),
            *self._phone(), *self._phone(), *self._phone(), f"{number}@example.com",
            rnd.choice((f"second.{number}@example.com", None)),
            rnd.choice(TAX_CODES), rnd.choice(TAX_CODES),
        ]  # fmt: skip
        return dict(zip(CUSTOMER, values, strict=True))

    def _phone(self) -> Row:
        rnd = self._rnd
        country, area = rnd.choice((("1", "0418"), (None, "0713"), (None, None)))
        local = rnd.choice((f"{rnd.randrange(10**7):07}", f"{rnd.randrange(10**7):07}", None))
        return [country, area, local, rnd.choice(("31", None, None))]

    def _account(self) -> dict[str, object]:
        rnd = self._rnd
        broker = rnd.randrange(EMPLOYEES // 2) * 2
        return dict(
            zip(ACCOUNT, (broker, f"plan {rnd.randrange(99)}", rnd.randrange(3)), strict=True)
        )

    def _some(self, values: dict[str, object]) -> dict[str, object]:
        """A few of the values; an address changes as a whole, and no key changes."""
        names = [name for name in values if values[name] is not None and name != "tax_id"]
        return {name: values[name] for name in self._rnd.sample(names, min(3, len(names)))}

    def _moment(self, first: date, days: int) -> datetime:
        begin = datetime.combine(first, datetime.min.time())
        return begin + timedelta(
            days=self._rnd.randrange(days), seconds=self._rnd.randrange(28_800, 64_800)
        )

    def _action(
        self,
        kind: str,
        at: datetime,
        customer: Customer,
        values: dict[str, object],
        account: Account | None = None,
        changed: dict[str, object] | None = None,
    ) -> Row:
        told = {} if account is None else account.now if changed is None else changed
        return [
            kind, at, customer.number, *map(values.get, CUSTOMER),
            account.number if account else None, *map(told.get, ACCOUNT),
        ]  # fmt: skip

    def _whole(self, flag: str, customer: Customer) -> Row:
        self._cdc += 1
        values = [customer.now[name] for name in CUSTOMER]
        return [flag, self._cdc, customer.number, values[0], customer.status, *values[1:]]

    def _whole_account(self, flag: str, account: Account) -> Row:
        self._cdc += 1
        values = [account.now[name] for name in ACCOUNT]
        return [flag, self._cdc, account.number, values[0], account.customer, *values[1:],
                account.status]  # fmt: skip

    def _prospect(self, customer: Customer) -> Row:
        now, rnd = customer.now, self._rnd
        return [
            f"AG{customer.number:06}", str(now["l_name"]).upper(), now["f_name"], now["m_name"],
            now["gndr"], now["adline1"], now["adline2"], now["zipcode"], now["city"],
            now["state_prov"], rnd.choice((*NATIONS, None)), rnd.choice(("555-01", None)),
            *self._wealth(),
        ]  # fmt: skip

    def _wealth(self) -> Row:
        rnd = self._rnd
        return [
            rnd.choice((20_000, 80_000, 250_000, None)), rnd.randrange(6), rnd.randrange(6),
            rnd.choice(("S", "M", "D", "W", "U", None)), rnd.choice((19, 24, 40, 60, None)),
            rnd.choice((500, 650, 800)), rnd.choice(("O", "R", "U", None)),
            rnd.choice(("Mill Ltd", None)), rnd.randrange(10),
            rnd.choice((-5_000, 90_000, 400_000, 2_000_000, None)),
        ]  # fmt: skip
