"""What happens in the shop: transactions at a rate, the same ones for the same seed.

In: a PostgreSQL server with the tables of ``shop.sql``, a rate, a seed. Out: rows that come, change
and go, until it is stopped. A server that is killed is waited for; what was due meanwhile follows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Protocol

import psycopg

SCHEMA = Path(__file__).with_name("shop.sql")
CUSTOMERS, PRODUCTS, ORDERS = 50, 20, 100  # that shop.sql begins with

_ORDER = """INSERT INTO orders (id, customer_id, product_id, quantity, amount)
    SELECT %(new_order)s, c.id, p.id, %(quantity)s, p.price * %(quantity)s
    FROM customers c, products p
    WHERE c.id = %(customer)s AND p.id = %(product)s AND p.stock >= %(quantity)s"""
_TAKE = """UPDATE products p SET stock = p.stock - o.quantity FROM orders o
    WHERE o.id = %(new_order)s AND p.id = o.product_id"""
_CANCEL = """WITH cancelled AS (UPDATE orders SET status = 'cancelled'
      WHERE id = %(order)s AND status = 'placed' RETURNING product_id, quantity)
    UPDATE products p SET stock = p.stock + c.quantity FROM cancelled c WHERE p.id = c.product_id"""
_ABORT = "SELECT 1 / 0"


class Server(Protocol):
    """PostgreSQL, wherever it runs."""

    @property
    def host(self) -> str:
        """Its host."""

    @property
    def port(self) -> int:
        """Its port."""

    @property
    def user(self) -> str:
        """Who connects."""

    @property
    def password(self) -> str:
        """The user's password."""

    def connect(self) -> psycopg.Connection[Any]:
        """Return a connection whose statements are transactions.

        Raises:
            psycopg.OperationalError: if the server does not answer.
        """


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of transaction.

    Attributes:
        name: what a customer or the shop does.
        weight: how often, in relation to the others.
        statements: with the parameters of :func:`transactions`; those that fit no row do nothing.
    """

    name: str
    weight: int
    statements: tuple[str, ...]


KINDS = (
    Kind("order", 45, (_ORDER, _TAKE)),
    Kind("order, and think better of it", 3, (_ORDER, _TAKE, _ABORT)),
    Kind("ship", 18, ("UPDATE orders SET status = 'shipped' WHERE id = %(order)s"
                      " AND status = 'placed'",)),
    Kind("cancel", 10, (_CANCEL,)),
    Kind("forget", 6, ("DELETE FROM orders WHERE id = %(order)s AND status = 'cancelled'",)),
    Kind("restock", 8, ("UPDATE products SET stock = stock + 40 WHERE id = %(product)s"
                        " AND stock <= reorder_at",)),
    Kind("price", 3, ("UPDATE products SET price = round(price * %(factor)s, 2)"
                      " WHERE id = %(product)s",)),
    Kind("sign up", 3, ("INSERT INTO customers (id, name, city)"
                        " VALUES (%(new_customer)s, %(name)s, %(city)s)",)),
    Kind("move", 3, ("UPDATE customers SET city = %(city)s WHERE id = %(customer)s",)),
    Kind("leave", 1, ("DELETE FROM orders WHERE customer_id = %(customer)s",
                      "DELETE FROM customers WHERE id = %(customer)s")),
)  # fmt: skip
"""Everything that happens in the shop."""


def transactions(
    seed: int, orders: int = ORDERS, customers: int = CUSTOMERS
) -> Iterator[tuple[Kind, Mapping[str, object]]]:
    """Yield transactions without an end, with the parameters of their statements.

    Args:
        seed: the same one gives the same transactions.
        orders: the greatest number of an order so far.
        customers: that of a customer.
    """
    rnd = Random(seed)
    weights = [kind.weight for kind in KINDS]
    while True:
        (kind,) = rnd.choices(KINDS, weights)
        # Most of what happens to an order happens soon after it was placed.
        age = min(int(rnd.expovariate(1 / 40)), orders - 1)
        text = " ".join(kind.statements)
        orders += "%(new_order)s" in text
        customers += "%(new_customer)s" in text
        values = {
            "order": orders - age,
            "new_order": orders,
            "customer": rnd.randint(1, customers),
            "new_customer": customers,
            "product": rnd.randint(1, PRODUCTS),
            "quantity": rnd.randint(1, 4),
            "factor": rnd.choice((Decimal("0.9"), Decimal("0.99"), Decimal("1.05"))),
            "name": rnd.choice(("Ada", "Zoë", "Łukasz", "Mei")) + f" {customers}",
            "city": rnd.choice(("Lisbon", "Kraków", "Osaka", "Accra", None)),
        }
        yield kind, values


class Load:
    """Runs the transactions in a thread of its own.

    Args:
        server: PostgreSQL.
        rate: transactions per second.
        upcoming: the transactions, as :func:`transactions` gives them.

    Attributes:
        done: transactions so far, those that were taken back included.
    """

    def __init__(
        self, server: Server, rate: float, upcoming: Iterator[tuple[Kind, Mapping[str, object]]]
    ) -> None:
        self._server, self._rate, self._upcoming = server, rate, upcoming
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="load", daemon=True)
        self._connection: psycopg.Connection[object] | None = None
        self._failure: psycopg.Error | None = None
        self.done = 0

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether it goes on; it ends by itself if a transaction fails."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End after the transaction that is running.

        Raises:
            psycopg.Error: a transaction has failed, and the load ended there.
        """
        self._stopping.set()
        self._thread.join()
        if self._failure:
            raise self._failure

    def _run(self) -> None:
        try:
            self._transact()
        except psycopg.Error as error:
            self._failure = error
        finally:
            self._disconnect()

    def _transact(self) -> None:
        begun = time.monotonic()
        for number, (kind, values) in enumerate(self._upcoming):
            if self._stopping.wait(max(0.0, begun + number / self._rate - time.monotonic())):
                break
            try:
                self._execute(kind, values)
            except psycopg.OperationalError:  # killed; whether it has committed is not known
                self._disconnect()

    def _execute(self, kind: Kind, values: Mapping[str, object]) -> None:
        connection = self._connected()
        if connection is None:
            return
        with suppress(psycopg.errors.DivisionByZero), connection.transaction():
            for statement in kind.statements:
                connection.execute(statement.encode(), values)
        self.done += 1

    def _connected(self) -> psycopg.Connection[object] | None:
        """The connection, made anew if need be; None if it is to stop before there is one."""
        while self._connection is None and not self._stopping.wait(0.1):
            try:
                self._connection = self._server.connect()
            except psycopg.OperationalError:
                continue
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
