"""Random SELECTs whose FROM is odd but legal, beside DuckDB's answer to the author's own text.

In: a seed and a count. Out: a line for each SELECT that is wrong, the reasons of those that are
refused, and a last line ``queries=N equal=N wrong=N refused=N seed=S``; exit code 1 if something is
wrong. Brackets stand around anything, joins in joins, aliases name columns, set operations and
VALUES are FROM items. DuckDB reads the text as it is, so that neither parser nor binder are shared:
what they drop is missing on one side only.

    python -m tests.fuzz.odd_shapes --queries 1200 --seed 1
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import click
import duckdb

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import ErrorGroup, SqlError
from headwater.plan.at_rest import at_rest
from headwater.plan.planner import plan_project

TABLES = ("g", "h", "k")
_ROWS = {
    "g": "(1, 1, 'a'), (1, 2, 'b'), (1, 2, 'b'), (2, NULL, 'a'), (NULL, 3, NULL)",
    "h": "(1, 5, 'a'), (2, 1, NULL), (2, 1, 'b'), (NULL, NULL, 'c'), (4, 2, 'a')",
    "k": "(2, 2, 'b'), (2, 3, 'b'), (NULL, 1, 'a'), (5, NULL, NULL)",
}
DECLARED = "".join(
    f"CREATE TABLE {name} (x BIGINT, y BIGINT, z VARCHAR)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;\n"
    for name in TABLES
)
_MOST_ITEMS = 6
_QUOTED = re.compile(r'"[^"]*"|\d+')


@dataclass(frozen=True, slots=True)
class Shown:
    """A column that is visible in a FROM clause.

    Attributes:
        alias: of its FROM item; empty if that has none.
        name: of the column.
        number: whether it is a BIGINT, not a VARCHAR.
        plain: whether ``*`` shows it: the other column of USING it does not.
    """

    alias: str
    name: str
    number: bool
    plain: bool = True


@dataclass(slots=True)
class OddShapes:
    """Writes SELECTs.

    Attributes:
        rnd: the generator.
        left: how many FROM items may still be written.
    """

    rnd: Random
    left: int = _MOST_ITEMS
    _aliases: int = field(default=0)

    def select(self, depth: int) -> str:
        """Return a SELECT whose outputs have names, one that is not nested."""
        self.left, self._aliases = _MOST_ITEMS, 0
        return self._select(depth)[0]

    def _chance(self, share: float) -> bool:
        return self.rnd.random() < share

    def _alias(self) -> str:
        self._aliases += 1
        return f"a{self._aliases}"

    # -- queries

    def _select(self, depth: int) -> tuple[str, list[tuple[str, bool]]]:
        """A SELECT; the names of its outputs, and whether each is a number."""
        text, columns = self._from(depth)
        where = f" WHERE {self._condition(columns)}" if self._chance(0.35) else ""
        readable = self._readable(columns)
        if self._chance(0.2) or not readable:
            return f"SELECT count(*) AS n FROM {text}{where}", [("n", True)]
        names = Counter(each.name for each in columns if each.plain)
        once = all(each.plain for each in columns) and max(names.values()) == 1
        if self._chance(0.15) and once:
            shown = [each for each in columns if each.plain]
            return f"SELECT * FROM {text}{where}", [(each.name, each.number) for each in shown]
        picked = [self.rnd.choice(readable) for _ in range(self.rnd.randint(1, 3))]
        values = [self._name(each, columns) for each in picked]
        outputs = [(f"c{at}", each.number) for at, each in enumerate(picked)]
        listed = [f"{value} AS c{at}" for at, value in enumerate(values)]
        if self._chance(0.2):
            keys = ", ".join(dict.fromkeys(values))
            listed.append("count(*) AS n")
            having = " HAVING count(*) > 1" if self._chance(0.3) else ""
            text = f"SELECT {', '.join(listed)} FROM {text}{where} GROUP BY {keys}{having}"
            return text, [*outputs, ("n", True)]
        distinct = "DISTINCT " if self._chance(0.15) else ""
        tail = ""
        if self._chance(0.12):
            order = ", ".join(f"c{at}" for at in range(len(outputs)))
            tail = f" ORDER BY {order} LIMIT {self.rnd.randint(1, 4)}"
        return f"SELECT {distinct}{', '.join(listed)} FROM {text}{where}{tail}", outputs

    def _query(self, depth: int) -> tuple[str, list[tuple[str, bool]]]:
        """What can stand in the brackets of a subquery."""
        if depth and self._chance(0.3):
            return self._set_operation(depth - 1)
        text, outputs = self._select(depth)
        if self._chance(0.1):
            return f"WITH w AS ({text}) SELECT * FROM w", outputs
        if self._chance(0.1):
            return f"({text})", outputs
        return text, outputs

    def _set_operation(self, depth: int) -> tuple[str, list[tuple[str, bool]]]:
        outputs = [(f"c{at}", self._chance(0.7)) for at in range(self.rnd.randint(1, 2))]
        parts = []
        for _ in range(2):
            text, columns = self._from(depth)
            values = [self._value(columns, number) for _, number in outputs]
            listed = ", ".join(f"{v} AS c{at}" for at, v in enumerate(values))
            part = f"SELECT {listed} FROM {text}"
            if self._chance(0.15):
                order = ", ".join(str(at + 1) for at in range(len(outputs)))
                part = f"({part} ORDER BY {order} LIMIT {self.rnd.randint(1, 3)})"
            elif self._chance(0.4):
                part = f"({part})"
            parts.append(part)
        words = ("UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT")
        text = f"{parts[0]} {self.rnd.choice(words)} {parts[1]}"
        if self._chance(0.15):
            order = ", ".join(name for name, _ in outputs)
            text = f"{text} ORDER BY {order} LIMIT {self.rnd.randint(1, 4)}"
        return text, outputs

    # -- FROM

    def _from(self, depth: int) -> tuple[str, list[Shown]]:
        """What follows FROM."""
        text, columns = self._joined(depth)
        while self.left > 0 and self._chance(0.12):
            more, others = self._joined(depth)
            text, columns = f"{text}, {more}", [*columns, *others]
        return text, columns

    def _joined(self, depth: int) -> tuple[str, list[Shown]]:
        """An item, or joins."""
        text, columns = self._item(depth)
        for _ in range(self.rnd.choice((0, 1, 1, 2) if depth else (0, 0, 1))):
            if self.left > 0:
                text, columns = self._join(text, columns, depth)
        return text, columns

    def _join(self, text: str, columns: list[Shown], depth: int) -> tuple[str, list[Shown]]:
        if self._chance(0.06):
            alias = self._alias()
            rows = f"CROSS JOIN UNNEST(ARRAY[1, 2, 2]) AS {alias} (e)"
            return f"{text} {rows}", [*columns, Shown(alias, "e", True)]
        if self._chance(0.06):
            return self._lateral(text, columns)
        right, others = self._item(max(depth - 1, 0)) if depth else self._leaf()
        side = self.rnd.choice(("", "", "INNER ", "LEFT ", "LEFT ", "RIGHT ", "FULL "))
        if self._chance(0.12):
            return f"{text} CROSS JOIN {right}", [*columns, *others]
        if depth and self.left > 0 and self._chance(0.12):  # a JOIN b JOIN c ON p ON q
            inner, more = self._leaf()
            kind = self.rnd.choice(("JOIN", "LEFT JOIN"))
            within = f"{right} {kind} {inner} ON {self._condition([*others, *more], 1)}"
            others = [*others, *more]
            on = self._condition([*columns, *others], 1)
            return f"{text} {side}JOIN {within} ON {on}", [*columns, *others]
        shared = self._shared(columns, others)
        if shared and self._chance(0.25):
            names, words = [self.rnd.choice(shared)], ""
            if self._chance(0.3):
                names, words = shared, "NATURAL "
            right_side = side.startswith(("RIGHT", "FULL"))
            merged = [self._merge(each, names, hidden=right_side) for each in columns]
            merged += [self._merge(each, names, hidden=not right_side) for each in others]
            if side.startswith("FULL"):
                kinds = {each.name: each.number for each in columns}
                merged = [self._merge(each, names, hidden=True) for each in merged]
                merged = [*(Shown("", name, kinds[name]) for name in names), *merged]
            using = "" if words else f" USING ({', '.join(names)})"
            return f"{text} {words}{side}JOIN {right}{using}", merged
        on = self._condition([*columns, *others], 2)
        return f"{text} {side}JOIN {right} ON {on}", [*columns, *others]

    def _lateral(self, text: str, columns: list[Shown]) -> tuple[str, list[Shown]]:
        alias, value = self._alias(), self._value(columns, True)
        if self._chance(0.5):
            value = f"coalesce({value}, 7)"
        query = f"SELECT {value} AS w"
        if self._chance(0.3) and self.left > 0:
            leaf, others = self._leaf()
            on = f"{self._value(others, True)} = {self._value(columns, True)}"
            query = f"SELECT {self._value(others, True)} AS w FROM {leaf} WHERE {on}"
        join = self.rnd.choice(("CROSS JOIN LATERAL ({})", "LEFT JOIN LATERAL ({})"))
        on = " ON true" if join.startswith("LEFT") else ""
        return f"{text} {join.format(query)} AS {alias}{on}", [*columns, Shown(alias, "w", True)]

    def _merge(self, each: Shown, names: Sequence[str], *, hidden: bool) -> Shown:
        if not hidden or each.name not in names or not each.plain:
            return each
        return Shown(each.alias, each.name, each.number, plain=False)

    def _shared(self, left: Sequence[Shown], right: Sequence[Shown]) -> list[str]:
        """The columns of one name and type on both sides; none if a name is there twice."""
        sides = [Counter(each.name for each in side if each.plain) for side in (left, right)]
        common = [name for name in sides[0] if name in sides[1]]
        kinds = {(each.name, each.number) for each in (*left, *right) if each.plain}
        once = all(side[name] == 1 for side in sides for name in common)
        return common if once and all(sum(n == k for n, _ in kinds) == 1 for k in common) else []

    def _leaf(self) -> tuple[str, list[Shown]]:
        self.left -= 1
        table, alias = self.rnd.choice(TABLES), self._alias()
        names = ["x", "y", "z"]
        text = f"{table} {alias}"
        if self._chance(0.1):
            names = ["p", "q", "z"]
            text = f"{table} AS {alias} (p, q, z)"
        columns = [Shown(alias, name, at < 2) for at, name in enumerate(names)]
        for _ in range(self.rnd.choice((0, 0, 0, 1, 2))):
            text = f"({text})"
        return text, columns

    def _item(self, depth: int) -> tuple[str, list[Shown]]:
        if not depth or self.left <= 1:
            return self._leaf()
        kind = self.rnd.choice(
            ("leaf", "leaf", "query", "query", "joins", "joins", "joins", "rows")
        )
        if kind == "leaf":
            return self._leaf()
        if kind == "rows":
            return self._rows()
        if kind == "joins":
            text, columns = self._joined(depth - 1)
            return self._around(f"({text})", columns, closed=True)
        text, outputs = self._query(depth - 1)
        text = f"({text})"
        columns = [Shown("", name, number) for name, number in outputs]
        if self._chance(0.15):
            return text, columns
        text, columns = self._named(text, columns)
        return self._around(text, columns)

    def _around(
        self, text: str, columns: list[Shown], *, closed: bool = False
    ) -> tuple[str, list[Shown]]:
        """Brackets around an item, perhaps with a name."""
        if self._chance(0.2) and not self._twice(columns):
            return self._named(text if closed and self._chance(0.5) else f"({text})", columns)
        for _ in range(self.rnd.choice((0, 0, 0, 1, 2))):
            text = f"({text})"
        return text, columns

    @staticmethod
    def _twice(columns: Sequence[Shown]) -> bool:
        names = [each.name for each in columns if each.plain]
        return len(set(names)) < len(names)

    def _named(self, text: str, columns: list[Shown]) -> tuple[str, list[Shown]]:
        alias, shown = self._alias(), [each for each in columns if each.plain]
        names = [each.name for each in shown]
        listed = ""
        if self._chance(0.3) and len(shown) == len(columns):
            names = [f"p{at}" for at in range(len(shown))]
            listed = f" ({', '.join(names)})"
        word = "AS " if self._chance(0.7) else ""
        found = [Shown(alias, n, each.number) for n, each in zip(names, shown, strict=True)]
        return f"{text} {word}{alias}{listed}", found

    def _rows(self) -> tuple[str, list[Shown]]:
        self.left -= 1
        alias = self._alias()
        rows = self.rnd.choice(
            ("(1, 'a'), (2, NULL), (2, 'b')", "(2, 'b')", "(NULL, 'a'), (1, 'c')")
        )
        text = f"(VALUES {rows}) AS {alias} (x, z)"
        if self._chance(0.2):
            text = f"(SELECT 2 AS x, 'b' AS z) AS {alias}"
        for _ in range(self.rnd.choice((0, 0, 1, 2))):
            text = f"({text})"
        return text, [Shown(alias, "x", True), Shown(alias, "z", False)]

    # -- expressions

    def _name(self, column: Shown, columns: Sequence[Shown]) -> str:
        names = Counter(each.name for each in columns if each.plain)
        plain = column.plain and names[column.name] == 1
        if not column.alias or (plain and self._chance(0.2)):
            return column.name
        return f"{column.alias}.{column.name}"

    def _readable(self, columns: Sequence[Shown]) -> list[Shown]:
        names = Counter(each.name for each in columns if each.plain)
        return [e for e in columns if e.alias or (e.plain and names[e.name] == 1)]

    def _value(self, columns: Sequence[Shown], number: bool) -> str:
        fitting = [each for each in self._readable(columns) if each.number == number]
        if not fitting or self._chance(0.1):
            return "7" if number else "'a'"
        return self._name(self.rnd.choice(fitting), columns)

    def _condition(self, columns: Sequence[Shown], parts: int = 1) -> str:
        return " AND ".join(self._term(columns) for _ in range(self.rnd.randint(1, parts)))

    def _term(self, columns: Sequence[Shown]) -> str:
        number = self._chance(0.75)
        one, two = self._value(columns, number), self._value(columns, number)
        kind = self.rnd.random()
        if kind < 0.55:
            return f"{one} = {two}"
        if kind < 0.7:
            return f"{one} <= {two}"
        if kind < 0.8:
            return f"{one} IS NOT NULL"
        if kind < 0.87:
            return f"({one} = {two} OR {two} IS NULL)"
        if kind < 0.93:
            return f"coalesce({one}, {two}) = {two}"
        return "true"


# -- the comparison


def open_tables() -> duckdb.DuckDBPyConnection:
    """Open DuckDB with the tables that the SELECTs read: NULLs and duplicates are in them."""
    duck = duckdb.connect(config={"threads": 1})
    # its 2.0.0 fails where they decide: CASE WHEN x IS NULL THEN 'none' END > 'v'
    duck.execute("SET disabled_optimizers = 'statistics_propagation'")
    for name in TABLES:
        duck.execute(f"CREATE TABLE {name} (x BIGINT, y BIGINT, z VARCHAR)")
        duck.execute(f"INSERT INTO {name} VALUES {_ROWS[name]}")
    return duck


def ours(text: str) -> str:
    """Return the SELECT at rest of a view, for DuckDB.

    Raises:
        SqlError: the view is refused.
        ErrorGroup: it is refused for several reasons.
    """
    catalog = bind({"v.sql": parse(f"{DECLARED}CREATE STREAMING VIEW v AS {text};")})
    return at_rest(plan_project(catalog)["v"], catalog, "duckdb", final=False).text()


def reason(error: SqlError | ErrorGroup) -> str:
    """Return why a SELECT is refused, without its names."""
    first = error.errors[0] if isinstance(error, ErrorGroup) else error
    assert isinstance(first, SqlError)
    return f"{first.condition} {_QUOTED.sub('…', first.message)}"


def compare(duck: duckdb.DuckDBPyConnection, text: str) -> tuple[str, str]:
    """Return ``equal``, ``wrong``, ``refused`` or ``illegal``, and why."""
    try:
        wanted = Counter(duck.sql(text).fetchall())
    except duckdb.Error as error:
        return "illegal", str(error).splitlines()[0]
    try:
        sql = ours(text)
    except (SqlError, ErrorGroup) as error:
        return "refused", reason(error)
    except Exception as error:  # noqa: BLE001  whatever it is, it is wrong
        return "wrong", repr(error)
    try:
        found = Counter(duck.sql(sql).fetchall())
    except duckdb.Error as error:
        return "wrong", f"{str(error).splitlines()[0]}: {sql}"
    return ("equal", "") if found == wanted else ("wrong", sql)


def texts(seed: int, depth: int = 3) -> Iterator[str]:
    """Yield random SELECTs without end."""
    while True:
        yield OddShapes(Random(f"odd {seed}")).select(depth)
        seed += 1


@click.command()
@click.option("--queries", default=1_200, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(queries: int, seed: int) -> None:
    """Compare random SELECTs with DuckDB's answers to their own texts."""
    duck, outcomes, reasons = open_tables(), Counter[str](), Counter[str]()
    for text in texts(seed * 1_000_000):
        outcome, why = compare(duck, text)
        outcomes[outcome] += 1
        if outcome == "wrong":
            click.echo(f"wrong: {text}\n    {why}")
        elif outcome != "equal":
            reasons[f"{outcome}: {why}"] += 1
        if outcomes.total() - outcomes["illegal"] == queries:
            break
    for why, count in reasons.most_common():
        click.echo(f"{count:5} {why}")
    counts = " ".join(f"{key}={outcomes[key]}" for key in ("equal", "wrong", "refused"))
    click.echo(f"queries={queries} {counts} seed={seed}")
    sys.exit(1 if outcomes["wrong"] else 0)


if __name__ == "__main__":
    main()
