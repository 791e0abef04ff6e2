"""Two answers compared as bags, with a tolerance for what types alone force.

In: the rows of two relations of DuckDB. Out: rows that one has and the other has not, as text.
:data:`FORCED` says what counts as equal, and why.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb

FORCED = {
    "floating point numbers within 1e-9 of each other": "a sum depends on the order of its rows",
    "REAL within 1e-6": "it has 24 bits; one side may compute in 53",
    "a decimal and a DOUBLE within a unit of its last digit": "DuckDB's avg of decimals is DOUBLE",
    "numbers of any type and scale with one value": "sums are HUGEINT in DuckDB, 1.50 is 1.5",
    "0.0 and -0.0": "they are equal, and DISTINCT may hold either",
    "NaN and NaN": "they are equal in Trino and DuckDB",
    "a date and its midnight": "date_trunc of a date is a date in one, a timestamp in the other",
    "instants in any zone": "an instant is one point in time, however a zone shows it",
    "a time of day or a UUID and its text": "tables lack these types, and hold their texts",
    "rows without the names of their fields": "ROW(a, b) names its fields in one engine only",
    "maps in any order": "a map has no order",
}
"""What counts as equal, with its reason."""
_CLOSE, _NOISE, _SINGLE = 1e-9, 1e-12, 1e-6
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Bag:
    """Rows in no order.

    Attributes:
        kinds: types of the columns as DuckDB names them.
        rows: the rows, their values made plain.
    """

    kinds: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, relation: duckdb.DuckDBPyRelation) -> Bag:
        """Return the rows of a relation."""
        kinds = relation.types
        rows = (
            tuple(_plain(value, kind) for value, kind in zip(row, kinds, strict=True))
            for row in relation.fetchall()
        )
        return cls(tuple(map(str, kinds)), tuple(rows))

    def only(self, at: Sequence[int]) -> Bag:
        """Return some of the columns."""
        rows = tuple(tuple(row[n] for n in at) for row in self.rows)
        return Bag(tuple(self.kinds[n] for n in at), rows)


def difference(held: Bag, answered: Bag, *, subset: bool = False) -> str:
    """Return the rows of two bags that have no twin, as text; empty if there are none.

    Args:
        held: rows of a view.
        answered: rows that it should have.
        subset: whether the view may lack some.
    """
    single = any("FLOAT" in kind for kind in (*held.kinds, *answered.kinds))
    surplus, missing = _left_over(held.rows, answered.rows, _SINGLE if single else _CLOSE)
    missing = [] if subset else missing
    if not surplus and not missing:
        return ""
    return f"surplus {len(surplus)}: {surplus[:_SHOWN]}; missing {len(missing)}: {missing[:_SHOWN]}"


def _left_over(
    held: Sequence[tuple[Any, ...]], answered: Sequence[tuple[Any, ...]], close: float
) -> tuple[list[Any], list[Any]]:
    ours, theirs = Counter(held), Counter(answered)
    surplus = [*(ours - theirs).elements()]
    missing = [*(theirs - ours).elements()]
    for row in [*surplus]:
        twin = next((other for other in missing if _same(row, other, close)), None)
        if twin is not None:
            surplus.remove(row)
            missing.remove(twin)
    return surplus, missing


def _same(one: Any, two: Any, close: float) -> bool:
    if isinstance(one, tuple) and isinstance(two, tuple):
        pairs = zip(one, two, strict=False)
        return len(one) == len(two) and all(_same(a, b, close) for a, b in pairs)
    if isinstance(one, float) and isinstance(two, float):
        return one == two or math.isclose(one, two, rel_tol=close, abs_tol=_NOISE)
    for a, b in ((one, two), (two, one)):
        if isinstance(a, Decimal) and isinstance(b, float) and math.isfinite(b):
            exponent = a.as_tuple().exponent
            assert isinstance(exponent, int)
            return bool(abs(float(a) - b) <= 10.0 ** min(exponent, 0))
    return type(one) is not bool and type(two) is not bool and bool(one == two) or one is two


def _plain(value: Any, kind: Any) -> Any:
    """A value that can be hashed, and is equal to those that types alone make different."""
    match value:
        case dict() if kind.id == "map":
            parts = dict(kind.children)
            pairs = ((_plain(k, parts["key"]), _plain(v, parts["value"])) for k, v in value.items())
            return tuple(sorted(pairs, key=repr))
        case dict():
            fields = [each for _, each in kind.children]
            return tuple(map(_plain, value.values(), fields))
        case list() | tuple():
            (_, element), *_ = kind.children
            return tuple(_plain(each, element) for each in value)
        case float():
            return "NaN" if math.isnan(value) else value + 0.0
        case datetime():
            return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
        case date():
            return datetime.combine(value, time())
        case time():
            return str(value).removesuffix("000").rstrip("0") if value.microsecond else str(value)
        case bytearray() | memoryview():
            return bytes(value)
        case UUID() | timedelta():
            return str(value)
    return value
