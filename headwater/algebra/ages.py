"""Ages: how far behind the watermark of a view the times of its rows may be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.dialect.parser import Headwater
from headwater.dialect.syntax import ViewWatermark
from headwater.dialect.vocabulary import LENGTHS

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Age:
    """How far behind the view's watermark a time may be.

    Attributes:
        column: the time.
        length: microseconds.
        type: of the column.
    """

    column: str
    length: int
    type: exp.DataType

    @property
    def clause(self) -> str:
        """The condition as SQL."""
        return comparison_of(self, exp.column(self.column), young=True).sql(dialect=Headwater)

    @property
    def flag(self) -> str:
        """The name of a column that says whether a row is so young."""
        sign = "minus_" if self.length < 0 else ""
        return f"__{self.column}_within_{sign}{abs(self.length)}"


@dataclass(frozen=True, slots=True)
class Ages:
    """What the rows of a relation have to do with the watermark, which may pass them.

    Attributes:
        recent: the age up to which it is read; None for any.
        young: the same, of a relation that is read up to several ages.
        dated: the columns that say whether a row is so young; a scan reads them by their flags.
    """

    recent: Age | None = None
    young: Age | None = None
    dated: tuple[Age, ...] = ()

    @property
    def within(self) -> Age | None:
        """The age that the rows have at most."""
        return self.recent or self.young

    @property
    def moves(self) -> bool:
        """Whether the watermark alone can change the rows."""
        return self.recent is not None or bool(self.dated)


def comparison_of(age: Age, time: exp.Expr, *, young: bool) -> exp.Expr:
    """Return the comparison of a time with the watermark that an age stands for.

    Args:
        age: how young a time may be.
        time: the time.
        young: whether it holds for the rows of this age, or for all others.
    """
    strict = (age.length + 1) % 1000 == 0
    kinds = (exp.LTE, exp.GT) if strict else (exp.LT, exp.GTE)
    return kinds[young](this=time, expression=_ago(age.length + strict))


def _ago(length: int) -> exp.Expr:
    """The watermark less some microseconds, as a person writes it."""
    if not length:
        return ViewWatermark()
    sizes = [(unit, size // _MICROSECOND) for unit, size in LENGTHS.items() if unit != "WEEK"]
    unit, size = [each for each in sizes if length % each[1] == 0][-1]
    number = exp.Literal.string(str(abs(length) // size))
    span = exp.Interval(this=number, unit=exp.Var(this=unit))
    return (exp.Add if length < 0 else exp.Sub)(this=ViewWatermark(), expression=span)
