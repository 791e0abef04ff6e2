"""What is wrong inside a literal, and where.

In: a place in a text. Out: the exception that every parser of a literal raises.
"""

from __future__ import annotations


class Mistake(Exception):
    """A literal that cannot be read, or does not mean the same in every engine.

    Attributes:
        condition: ``INVALID_LITERAL``, or ``NOT_PORTABLE`` if Trino reads the literal.
        message: what is wrong, lower case, no full stop.
        hint: the edit that mends it.
        at: offset of the first wrong character in the literal's value.
        length: number of wrong characters.
    """

    def __init__(
        self,
        message: str,
        hint: str,
        at: int,
        length: int = 1,
        *,
        condition: str = "INVALID_LITERAL",
    ) -> None:
        super().__init__(message)
        self.condition = condition
        self.message = message
        self.hint = hint
        self.at = at
        self.length = length
