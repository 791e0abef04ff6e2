"""Texts with places for columns: ``Card {card} was used {n} times``.

In: the text of an option. Out: its pieces, each a literal and the column behind it. ``{{`` and
``}}`` stand for the braces themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import Formatter

_FORMATTER = Formatter()


@dataclass(frozen=True, slots=True)
class MessageText:
    """A text with places for columns.

    Attributes:
        pieces: literals, each with the column that follows it, or None at the end.
    """

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str) -> MessageText:
        """Return the pieces of a text.

        Raises:
            ValueError: it has a brace that neither begins nor ends a place.
        """
        return cls(tuple(_pieces(text)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it has places for, in order."""
        return tuple(column for _, column in self.pieces if column is not None)

    def filled(self, value: Callable[[str], str]) -> str:
        """Return the text with a value at each place.

        Args:
            value: returns the text of a column's value.
        """
        return "".join(
            literal + ("" if column is None else value(column)) for literal, column in self.pieces
        )


def _pieces(text: str) -> Iterator[tuple[str, str | None]]:
    for literal, column, width, conversion in _FORMATTER.parse(text):
        if column == "" or width or conversion or "{" in (column or ""):
            raise ValueError("a place is a column in braces")
        yield literal, None if column is None else column.strip().lower()
