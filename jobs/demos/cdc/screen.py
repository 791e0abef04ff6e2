"""What the demo shows while it runs: the views, how fresh they are, and what happens.

In: the project, read as any reader reads it, without the process that writes. Out: on a terminal a
picture that is renewed, otherwise some lines every few seconds; events are lines above it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from headwater.errors import HeadwaterError
from headwater.project import Project
from headwater.serve.embedded import Embedded
from headwater.serve.status import Status, status

QUERIES = {
    "revenue_per_minute": "SELECT * FROM revenue_per_minute ORDER BY minute DESC LIMIT 5",
    "lifetime_value": "SELECT name, city, orders, spent FROM lifetime_value "
    "ORDER BY spent DESC NULLS LAST, id LIMIT 5",
    "low_stock": "SELECT name, stock, reorder_at FROM low_stock ORDER BY stock, id LIMIT 5",
}
"""The part of each view that is shown."""

_NEWEST = "SELECT max(changed_at) FROM orders"
# Seconds between two pictures: each reads the lake, on cores that have other things to do.
_DRAWN_EVERY = 2.0
_LINES_EVERY = 5.0  # where there is no terminal


@dataclass(frozen=True, slots=True)
class Shown:
    """A view as it is now.

    Attributes:
        name: its name.
        columns: of the part that is shown.
        rows: that part.
        status: state, age and lag; None before it is known.
    """

    name: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    status: Status | None = None

    @property
    def age(self) -> str:
        """How old its newest commit is, and how many commits of its inputs it has not read."""
        if self.status is None or self.status.age is None:
            return "not written yet"
        age, lag = self.status.age.total_seconds(), self.status.lag or 0
        behind = f", {lag} commit{'s' if lag > 1 else ''} behind" if lag else ""
        return f"committed {age:.1f} s ago{behind}"


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is shown at one moment.

    Attributes:
        views: in the order of :data:`QUERIES`.
        age: seconds since the newest change of an order that can be seen; None without any.
        waiting: records in Kafka that are not landed yet; None while nobody knows.
    """

    views: tuple[Shown, ...]
    age: float | None
    waiting: int | None

    @property
    def headline(self) -> str:
        """How far the lake is behind the shop."""
        seen = "nothing is there yet" if self.age is None else f"{self.age:.1f} s ago"
        waiting = "-" if self.waiting is None else f"{self.waiting:,}"
        return f"newest change of an order that can be seen: {seen}; waiting in Kafka: {waiting}"


def take(project: Project) -> Picture:
    """Read what is to be shown; what cannot be read is left out.

    Args:
        project: the project.
    """
    embedded = Embedded(project)
    states: dict[str, Status] = {}
    with suppress(HeadwaterError):
        states = {each.name: each for each in status(project)}

    def asked(query: str) -> tuple[tuple[str, ...], tuple[tuple[object, ...], ...]]:
        try:
            with embedded.query(query) as result:
                return result.columns, tuple(result.rows)
        except HeadwaterError:  # before the first commit
            return (), ()

    views = tuple(Shown(name, *asked(query), states.get(name)) for name, query in QUERIES.items())
    _, newest = asked(_NEWEST)
    age = None
    if newest and isinstance(newest[0][0], datetime):
        age = max(0.0, (datetime.now(UTC) - newest[0][0]).total_seconds())
    known = [each.waiting for each in states.values() if each.waiting is not None]
    waiting = sum(sum(each.values()) for each in known) if known else None
    return Picture(views, age, waiting)


class Screen:
    """Shows pictures and events until the block ends. Events may come from any thread."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._begun = time.monotonic()
        self._lock = threading.Lock()
        self._shown_at = float("-inf")

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def say(self, text: str) -> None:
        """Write an event as a line that stays.

        Args:
            text: the line.
        """
        with self._lock:
            self._console.print(f"{self._passed:6.1f} s  {text}", markup=False, soft_wrap=True)

    def show(self, project: Project, doing: str) -> None:
        """Show how things are, if it is time for it.

        Args:
            project: the project; it is not read otherwise.
            doing: what the demo does at the moment.
        """
        every = _DRAWN_EVERY if self._console.is_terminal else _LINES_EVERY
        if time.monotonic() - self._shown_at < every:
            return
        self._shown_at = time.monotonic()
        picture = take(project)
        if self._console.is_terminal:
            with self._lock:
                self._live.update(drawn(picture, f"{doing}; {picture.headline}"), refresh=True)
        else:
            self.say("\n".join([f"{doing}; {picture.headline}", *map(_line, picture.views)]))

    @property
    def _passed(self) -> float:
        return time.monotonic() - self._begun


def drawn(picture: Picture, headline: str) -> Group:
    """Return a picture as tables beside each other, or below where there is no room.

    Args:
        picture: the views.
        headline: stands above them.
    """
    tables = []
    for view in picture.views:
        table = Table()
        for column in view.columns:
            table.add_column(column)
        for row in view.rows:
            table.add_row(*_texts(row))
        tables.append(Group(Text(f"{view.name}: {view.age}", style="bold"), table))
    return Group(Text(headline), Columns(tables, padding=(1, 4)))


def _line(view: Shown) -> str:
    first = ", ".join(_texts(view.rows[0])) if view.rows else "no rows"
    return f"{'':12}{view.name:<20}{view.age:<36}{first}"


def _texts(row: Sequence[object]) -> list[str]:
    return [
        "-" if value is None else f"{value:%H:%M}" if isinstance(value, datetime) else str(value)
        for value in row
    ]
