"""Random schemas: the kinds and names of the columns of each input, and rows of them.

In: a random generator. Out: a :class:`Schema`, its definitions and rows. Values are few, so that
keys meet, and NULL, NaN and -0.0 are among them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

LOGS = ("a", "b", "c")
CORRECTED = "u"
KEYED = "p"
MOVING = (CORRECTED, KEYED)
"""A view and a keyed table: their rows come, change and go."""
INPUTS = (*LOGS, *MOVING)
FED, CHANGES = "fed", f"{KEYED}__changes"
"""The logs that ``u`` and ``p`` follow from."""
TIMED, TIME = "b", "happened"
"""The log whose rows can be late, and its event time."""
DELAY = timedelta(minutes=1)
"""How late they can be and still be in time."""

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of values.

    Attributes:
        type: as it is written.
        constant: one of the values.
        default: what stands for NULL, none of the values.
        values: what rows are made of.
        spark: the type in Spark, if it has another name.
    """

    type: str
    constant: str
    default: str
    values: tuple[object, ...]
    spark: str = ""


_NOON = datetime(2026, 1, 1, 12)  # noqa: DTZ001  as a wall shows it
_INSTANT = "CAST('2026-01-01 {}Z' AS TIMESTAMP WITH TIME ZONE)"

KINDS: Mapping[str, Kind] = {
    "text": Kind("VARCHAR", "'v'", "'none'", (None, "u", "v", "w"), "STRING"),
    "number": Kind("BIGINT", "1", "CAST(7 AS BIGINT)", (None, 0, 1, 2, 3)),
    "float": Kind("DOUBLE", "0e0", "-1e0", (None, 0.0, -0.0, 1.5, math.nan, math.inf)),
    "small": Kind("INTEGER", "1", "CAST(7 AS INTEGER)", (None, -1, 0, 1, 2)),
    "money": Kind(
        "DECIMAL(9, 2)",
        "1.5",
        "CAST(7 AS DECIMAL(9, 2))",
        (None, Decimal("-0.25"), Decimal("0.00"), Decimal("1.50"), Decimal("12345.67")),
    ),
    "wide": Kind(
        "DECIMAL(24, 6)",
        "1.500000",
        "CAST(7 AS DECIMAL(24, 6))",
        (None, Decimal("0.000001"), Decimal("1.500000"), Decimal("123456789012345678.5")),
    ),
    "flag": Kind("BOOLEAN", "true", "false", (None, False, True)),
    "day": Kind(
        "DATE",
        "DATE '2026-01-01'",
        "DATE '1999-12-31'",
        (None, date(1969, 7, 20), date(2026, 1, 1), date(2026, 1, 2)),
    ),
    "moment": Kind(
        "TIMESTAMP",
        "TIMESTAMP '2026-01-01 12:00:00'",
        "TIMESTAMP '1999-12-31 23:59:59'",
        (None, _NOON, _NOON.replace(microsecond=1), _NOON.replace(day=2)),
        "TIMESTAMP_NTZ",
    ),
    "instant": Kind(
        "TIMESTAMP WITH TIME ZONE",
        _INSTANT.format("12:00:00"),
        _INSTANT.format("23:59:59"),
        (None, *(_NOON.replace(minute=m, tzinfo=UTC) for m in (0, 1, 2, 3))),
        "TIMESTAMP",
    ),
}
"""Kinds of values by name."""

LISTS = {"number[]": (None, [], [1], [2, 2, None]), "text[]": (None, [], ["u", None], ["v"])}
"""Lists that inputs hold."""


def elements(kind: str) -> str:
    """Return the kind of the elements of a list, empty if it is none.

    Args:
        kind: one of :data:`KINDS`, or a list of them, ``text[]``.
    """
    return kind.removesuffix("[]") if kind.endswith("[]") else ""


def type_of(kind: str) -> str:
    """Return the type of a kind as it is written in a definition.

    Args:
        kind: one of :data:`KINDS`, or a list of them.
    """
    element = elements(kind)
    return f"ARRAY({KINDS[element].type})" if element else KINDS[kind].type


def spark_type(kind: str) -> str:
    """Return the type of a kind as Spark writes it.

    Args:
        kind: one of :data:`KINDS`, or a list of them.
    """
    if element := elements(kind):
        return f"ARRAY<{spark_type(element)}>"
    return KINDS[kind].spark or KINDS[kind].type


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of the inputs.

    Attributes:
        inputs: by name of an input, the kind of each column by name; the first one is ``id``.
    """

    inputs: Mapping[str, Mapping[str, str]]

    @property
    def kinds(self) -> list[str]:
        """Kinds that a query can be of: those of the inputs, and what is counted."""
        found = {kind: None for held in self.inputs.values() for kind in held.values()}
        return [kind for kind in found if not elements(kind)]

    @property
    def timed(self) -> bool:
        """Whether rows can be late."""
        return TIME in self.inputs[TIMED]

    @property
    def logs(self) -> dict[str, Mapping[str, str]]:
        """The columns of the tables that gain rows."""
        return {name: self.inputs[name] for name in LOGS} | {FED: self.inputs[CORRECTED]}

    @property
    def definitions(self) -> str:
        """Statements."""
        return self.tables + f"CREATE STREAMING VIEW {CORRECTED} AS {self.corrected};\n"

    @property
    def tables(self) -> str:
        """The statements of the tables."""
        held = {**self.logs, KEYED: self.inputs[KEYED]}
        return "".join(_table(name, columns) for name, columns in held.items())

    @property
    def corrected(self) -> str:
        """The query of ``u``."""
        key, *others = self.inputs[CORRECTED]
        least = {"float": "min"}
        items = (f"{least.get(self.inputs[CORRECTED][c], 'max')}({c}) AS {c}" for c in others)
        return f"SELECT {', '.join((key, *items))} FROM {FED} GROUP BY {key} HAVING count(*) < 4"

    def in_duckdb(self, name: str) -> str:
        """Return the columns of an input as DuckDB writes them.

        Args:
            name: of the input.
        """
        types = {kind: each.type for kind, each in KINDS.items()}
        types |= {kind: f"{types[elements(kind)]}[]" for kind in LISTS}
        return ", ".join(f"{c} {types[kind]}" for c, kind in self.inputs[name].items())

    def rows(
        self, rnd: Random, name: str, ids: Sequence[int], most: int = 4, least: int = 0
    ) -> list[Row]:
        """Return some rows of an input.

        Args:
            rnd: the generator.
            name: of the input.
            ids: what their ids are taken from.
            most: how many at most.
            least: how many at least.
        """
        held = list(self.inputs[CORRECTED if name == FED else name].items())[1:]
        values = [LISTS[kind] if elements(kind) else KINDS[kind].values for _, kind in held]
        for at, (column, _) in enumerate(held):
            if column == TIME:
                values[at] = [each for each in values[at] if each is not None]
        count = rnd.randint(least, most)
        return [tuple(map(rnd.choice, (ids, *values))) for _ in range(count)]


def _table(name: str, columns: Mapping[str, str]) -> str:
    items = [f"{column} {type_of(kind)}" for column, kind in columns.items()]
    if TIME in columns:
        items.append(f"WATERMARK FOR {TIME} AS {TIME} - INTERVAL '{DELAY.seconds}' SECOND")
    form = "PLAIN ENCODE JSON"
    if name == KEYED:
        items.append(f"PRIMARY KEY ({next(iter(columns))})")
        form = "UPSERT ENCODE JSON (delete_field = 'op')"
    place = f"WITH (connector = 'files', path = '{name}')"
    return f"CREATE TABLE {name} ({', '.join(items)}) {place} FORMAT {form};\n"


_STANDARD = {"id": "number", "k": "text", "x": "number", "f": "float"}
STANDARD = Schema(dict.fromkeys(INPUTS, _STANDARD))
"""What kept cases are over if they do not say."""

_NAMES = ("k", "x", "f", "c0", "c1", "v", "unit", "s", "value_of", "day_1", "n")


def random_schema(rnd: Random) -> Schema:
    """Return a random schema.

    Args:
        rnd: the generator.
    """
    few = rnd.sample([*KINDS], 4)  # so that columns of inputs can be compared
    timed = rnd.random() < 0.5
    inputs = {}
    for name in INPUTS:
        names = rnd.sample(_NAMES, rnd.randint(2, 4))
        kinds = {column: rnd.choice(few) for column in names}
        if name != CORRECTED and rnd.random() < 0.3:
            kinds["items"] = rnd.choice([*LISTS])
        if name == TIMED and timed:
            kinds[TIME] = "instant"
        inputs[name] = {"id": "number", **kinds}
    return Schema(inputs)


class Draw(Random):
    """A generator that also knows what there is to draw from.

    Args:
        seed: the same seed, the same draws.
        schema: the inputs of queries; None draws one.
    """

    def __init__(self, seed: int | str, schema: Schema | None = STANDARD) -> None:
        super().__init__(seed)
        self.schema = schema or random_schema(self)
