"""Random changes of random views: a definition before and after, and DuckDB's answer to each.

In: a random generator and what there is to read. Out: changes of the kinds that people make: a
clause goes or comes, a literal or an operator is another one, a column is added, dropped or moved,
a query is written anew, late rows are treated another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from sqlglot import exp, parse_one

from headwater.dialect.parser import Headwater
from tests.algebra.query import LATE, answer
from tests.fuzz import shrink
from tests.fuzz.as_of import as_of_query
from tests.fuzz.cases import Case
from tests.fuzz.closing import closing_query
from tests.fuzz.queries import first, folded, grouped, linear, query
from tests.fuzz.recent import recent_query
from tests.fuzz.schemas import KINDS, TIMED, Draw, Schema, elements
from tests.fuzz.streams import LATE as ALLOWED
from tests.fuzz.streams import Log, StreamingQuery, random_query

QUERIES = (query, query, folded, linear, grouped, first)
STREAMS = (random_query, closing_query, as_of_query, recent_query)
_FIXED = (exp.DataTypeParam, exp.Interval, exp.Cast)
"""What a literal stands in that is no value on its own."""
TRIES = 20
"""How many random views are drawn for one that has the columns of another."""


@dataclass(frozen=True, slots=True)
class Side:
    """A view before or after a change.

    Attributes:
        statement: its definition.
        answer: DuckDB's SELECT for it; ``getvariable('w')`` is the watermark.
        inputs: the streams that it waits for.
        allowed: how many seconds its watermark is behind the least of theirs.
    """

    statement: str
    answer: str
    inputs: tuple[str, ...] = ()
    allowed: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A view before and after.

    Attributes:
        name: the view.
        old: before.
        new: after.
        reads: the views that it reads.
    """

    name: str
    old: Side
    new: Side
    reads: tuple[str, ...] = ()


def changed_query(rnd: Draw, name: str, read: Change) -> Change:
    """Return a change of a view of tables whose rows come, change and go.

    Args:
        rnd: the generator, and what there is to read.
        name: of the view.
        read: the view that is among the inputs.
    """
    old = rnd.choice(QUERIES)(rnd)
    new = _changed(rnd, old.text, old.kinds)
    late = _late(rnd, old.text)
    again = _late(rnd, new) if rnd.random() < 0.2 else late
    sides = [_side(rnd.schema, name, old.text, late), _side(rnd.schema, name, new, again)]
    if rnd.random() < 0.5:
        sides.reverse()
    return Change(name, *sides, reads=(read.name,))


def changed_reader(rnd: Random, name: str, read: Change) -> Change:
    """Return a view that counts the rows of another one, changed or as it was.

    Args:
        rnd: the generator.
        name: of the view.
        read: the other one, whose first column both have.
    """
    old = f"SELECT c0, count(*) AS n FROM {read.name} GROUP BY c0"
    new = rnd.choice((old, f"{old} HAVING count(*) > 1", old.replace("count(*)", "count(c0)")))
    return _plain(name, old, new, reads=(*read.reads, read.name))


def changed_input(rnd: Draw, name: str) -> Change:
    """Return the view that the queries of a schema read, changed or as it was.

    Args:
        rnd: the generator, and what there is to read.
        name: of the view.
    """
    old = rnd.schema.corrected
    return _plain(name, old, rnd.choice((old, old.replace("< 4", "< 3"))))


def _plain(name: str, *queries: str, reads: tuple[str, ...] = ()) -> Change:
    """A view that means the same in DuckDB."""
    sides = (Side(f"CREATE STREAMING VIEW {name} AS {query};\n", query) for query in queries)
    return Change(name, *sides, reads=reads)


def changed_stream(seed: str, name: str, logs: Sequence[Log]) -> Change:
    """Return a change of a view whose rows are final, or leave.

    Args:
        seed: the same seed, the same change.
        name: of the view.
        logs: two of them.
    """
    rnd = Random(seed)
    make = rnd.choice(STREAMS)
    old = _drawn(f"{seed}-old", make, logs)
    new = _drawn(f"{seed}-new", make, logs)
    for number in range(TRIES):
        if new.columns == old.columns:
            break
        new = _drawn(f"{seed}-new-{number}", make, logs)
    return Change(name, _of_stream(name, old), _of_stream(name, new))


def _drawn(seed: str, make: Callable[..., StreamingQuery], logs: Sequence[Log]) -> StreamingQuery:
    """A view that reads no other view."""
    found = make(Random(seed), logs)
    return _drawn(f"{seed}+", make, logs) if found.views else found


def _of_stream(name: str, made: StreamingQuery) -> Side:
    streams = made.engine == "streaming"
    allowed = ALLOWED[made.clauses.removeprefix(" LATE ROWS ")] if streams else 0
    columns = ", ".join(made.columns)
    right = f"SELECT {columns} FROM ({made.answer})"
    return Side(made.definition(name), right, made.inputs, allowed)


def _late(rnd: Random, text: str) -> str:
    return rnd.choice([*LATE]) if re.search(rf"\b{TIMED} [a-z]", text) else ""


def _side(schema: Schema, name: str, text: str, late: str) -> Side:
    late = late if schema.timed else ""
    case = Case(text, [], schema, clauses=late)
    return Side(f"CREATE STREAMING VIEW {name} {late} AS {text};\n", answer(case, "main"))


# -- what people do to a SELECT


def _changed(rnd: Draw, text: str, kinds: Sequence[str]) -> str:
    ways = (_smaller, _smaller, _mutated, _mutated, _mutated, _projected, _filtered, _written_anew)
    return rnd.choice(ways)(rnd, text, kinds) or text


def _smaller(rnd: Draw, text: str, kinds: Sequence[str]) -> str:  # noqa: ARG001 - one signature
    """A clause, a column, a join less; DuckDB's count_if remains in the coalesce that it needs."""
    return rnd.choice(sorted(each for each in set(shrink.candidates(text)) if _counts(each)))


def _counts(text: str) -> bool:
    calls = parse_one(text, dialect=Headwater).find_all(exp.CountIf)
    around = (call.find_ancestor(exp.Coalesce, exp.Select) for call in calls)
    return all(isinstance(each, exp.Coalesce) for each in around)


def _mutated(rnd: Draw, text: str, kinds: Sequence[str]) -> str:  # noqa: ARG001
    """Another literal, operator, kind of join or aggregate."""
    root = parse_one(text, dialect=Headwater)
    found = [(at, new) for at, node in enumerate(root.walk()) for new in _others(node)]
    if not found:
        return ""
    at, new = rnd.choice(found)
    node = list(root.walk())[at]
    new(node)
    return root.sql(Headwater)


def _others(node: exp.Expr) -> Iterator[Callable[[exp.Expr], object]]:
    if isinstance(node, exp.Literal) and node.is_int and not node.find_ancestor(*_FIXED):
        yield lambda found: found.set("this", str(int(found.this) + 1))
    for kinds in (
        (exp.EQ, exp.NEQ),
        (exp.GT, exp.GTE, exp.LT),
        (exp.And, exp.Or),
        (exp.Min, exp.Max),
        (exp.Add, exp.Sub),
    ):
        if type(node) in kinds:
            for kind in kinds:
                if kind is not type(node):
                    yield lambda found, kind=kind: found.replace(kind(**found.args))
    if isinstance(node, exp.Join) and node.side:
        yield lambda found: found.set("side", None)
    if isinstance(node, exp.Ordered):
        yield lambda found: found.set("desc", not found.args.get("desc"))
    if isinstance(node, exp.SetOperation):
        yield lambda found: found.set("distinct", not found.args.get("distinct"))


def _projected(rnd: Draw, text: str, kinds: Sequence[str]) -> str:
    """Columns are added, dropped, moved, or of another type."""
    items = [f"q.{name} AS {name}" for name in _names(text)]
    way = rnd.choice(("added", "dropped", "moved", "typed"))
    if way == "added":
        kind = rnd.choice(rnd.schema.kinds)
        items.insert(rnd.randint(0, len(items)), f"{KINDS[kind].constant} AS added")
    elif way == "dropped" and len(items) > 1:
        items.pop(rnd.randrange(1, len(items)))
    elif way == "typed" and kinds and not elements(kinds[0]):
        items[0] = "CAST(q.c0 AS VARCHAR) AS c0"
    else:
        rnd.shuffle(items)
    return f"SELECT {', '.join(items)} FROM ({text}) q"


def _filtered(rnd: Draw, text: str, kinds: Sequence[str]) -> str:  # noqa: ARG001
    names = _names(text)
    listed = ", ".join(f"q.{name}" for name in names)
    return f"SELECT {listed} FROM ({text}) q WHERE q.{rnd.choice(names)} IS NOT NULL"


def _names(text: str) -> list[str]:
    query = parse_one(text, dialect=Headwater)
    assert isinstance(query, exp.Query)
    return query.named_selects


def _written_anew(rnd: Draw, text: str, kinds: Sequence[str]) -> str:  # noqa: ARG001
    """Another query, mostly with columns of other types."""
    return rnd.choice(QUERIES)(rnd).text
