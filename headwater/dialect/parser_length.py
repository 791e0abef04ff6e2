"""Constant lengths of time: intervals that are added, subtracted, multiplied and divided.

In: tokens such as ``INTERVAL '10' MINUTE * 3``. Out: one interval, ``INTERVAL '30' MINUTE``. What
is no constant is refused at its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from typing import NoReturn

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from headwater.dialect.parser_base import ClauseParser
from headwater.dialect.vocabulary import LENGTHS

_MONTHS = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
_MICROSECONDS = {
    unit: LENGTHS[unit] // timedelta(microseconds=1)
    for unit in sorted(LENGTHS, key=LENGTHS.__getitem__, reverse=True)
}
_TIMES = (TokenType.STAR, TokenType.SLASH)


@dataclass(frozen=True, slots=True)
class _Length:
    """A constant length of time; ``unit`` is the smallest that it was written with."""

    months: Fraction
    micros: Fraction
    unit: str

    def plus(self, other: _Length, sign: int) -> _Length:
        units = (*_MONTHS, *_MICROSECONDS)
        unit = max(self.unit, other.unit, key=units.index)
        months = self.months + sign * other.months
        return _Length(months, self.micros + sign * other.micros, unit)

    def times(self, factor: Fraction) -> _Length:
        return _Length(self.months * factor, self.micros * factor, self.unit)


class LengthParser(ClauseParser):
    """Lengths beyond a single interval."""

    def _parse_length(self, kind: str, name: str) -> exp.Interval:
        """Parse a constant length: an interval, or intervals that are added and multiplied."""
        what, start = f"the {name} of {kind}", self._curr
        if self._match(TokenType.INTERVAL, advance=False):
            index = self._index
            interval = self._fixed_interval(signed=True)
            over = self._curr and self._curr.token_type in (TokenType.COMMA, TokenType.R_PAREN)
            if over and interval.this.name.isdigit():
                return interval  # engines take no part of a unit, such as 1.5 minutes
            self._retreat(index)
        length = self._length_sum(what)
        if self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            self._fail_varying(what)
        if min(length.months, length.micros) < 0 and name != "offset":
            hint = "write INTERVAL '1' HOUR"
            message = f"{what} is not above zero"
            self.fail("INVALID_WINDOW", message, hint=hint, token=start)
        if length.months and length.micros:
            message = f"{what} adds months to days"
            hint = "write months or days: months have no fixed length"
            self.fail("INVALID_WINDOW", message, hint=hint, token=start)
        sizes, amount = (
            (_MONTHS, length.months) if length.months else (_MICROSECONDS, length.micros)
        )
        names = list(sizes)
        for unit in names[names.index(length.unit) if length.unit in sizes else 0 :]:
            if not amount % sizes[unit]:
                value = exp.Literal.string(str(amount // sizes[unit]))
                return self._placed(exp.Interval(this=value, unit=exp.var(unit)), start)
        message = f"{what} has a part of a microsecond"
        return self.fail("INVALID_WINDOW", message, hint="round it", token=start)

    def _length_sum(self, what: str) -> _Length:
        length = self._length_product(what)
        while self._match_set((TokenType.PLUS, TokenType.DASH)):
            sign = 1 if self._prev.token_type == TokenType.PLUS else -1
            length = length.plus(self._length_product(what), sign)
        return length

    def _length_product(self, what: str) -> _Length:
        factor = Fraction(1)
        while self._match(TokenType.DASH):
            factor = -factor
        while self._match(TokenType.NUMBER):
            factor *= Fraction(self._prev.text)
            if not self._match(TokenType.STAR):
                self.fail_near(hint=f"{what} needs a unit: INTERVAL '10' MINUTE")
        length = self._length_part(what)
        while self._match_set(_TIMES):
            divides = self._prev.token_type == TokenType.SLASH
            if not self._match(TokenType.NUMBER):
                self._fail_varying(what)
            number = Fraction(self._prev.text)
            if divides and not number:
                self.fail_near(self._prev, "divide by a number above zero")
            factor *= 1 / number if divides else number
        return length.times(factor)

    def _length_part(self, what: str) -> _Length:
        if self._match(TokenType.L_PAREN):
            length = self._length_sum(what)
            if not self._match(TokenType.R_PAREN):
                self._fail_varying(what)
            return length
        if not self._match(TokenType.INTERVAL, advance=False):
            self._fail_varying(what)
        interval = self._fixed_interval(signed=True)
        amount, unit = Fraction(interval.this.name), interval.text("unit")
        if unit in _MONTHS:
            return _Length(amount * _MONTHS[unit], Fraction(0), unit)
        return _Length(Fraction(0), amount * _MICROSECONDS[unit], unit)

    def _fail_varying(self, what: str) -> NoReturn:
        """Refuse a length that is no constant: a column, a function, NULL."""
        token = self._curr
        written = (TokenType.STRING, TokenType.NUMBER, TokenType.NULL, TokenType.COMMA)
        if not token or token.token_type in (*written, TokenType.R_PAREN):
            self.fail_near(hint="expected an interval here: INTERVAL '10' SECOND")
        hint = "write a constant: INTERVAL '10' MINUTE * 3"
        if "SESSION" in what:
            hint += "; for gaps that differ by key, unite one SELECT for each with UNION ALL"
        message = f'{what} must be a constant, and "{token.text}" is none'
        self.fail("NOT_CONSTANT", message, hint=hint, token=token)
