"""Random SELECTs from the grammar that is kept incrementally, and random changes of their tables.

In: a random generator. Out: SQL text that means the same in Headwater and DuckDB, over three tables
that only gain rows (``a``, ``b``, ``c``) and a view whose rows are corrected (``u``); rows. Values
are few, so that keys meet, and NULL is among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

KEYS = (None, "u", "v", "w")
NUMBERS = (None, 0, 1, 2, 3)
LOGS = ("a", "b", "c")
CORRECTED = "u"
COLUMNS = (("id", "number"), ("k", "text"), ("x", "number"))

DEFINITIONS = "\n".join(
    f"CREATE TABLE {name} (id BIGINT, k VARCHAR, x BIGINT)"
    f" WITH (connector = 'files', path = '{name}') FORMAT PLAIN ENCODE JSON;"
    for name in (*LOGS, "fed")
) + (
    f"\nCREATE STREAMING VIEW {CORRECTED} AS"
    " SELECT id, max(k) AS k, max(x) AS x FROM fed GROUP BY id HAVING count(*) < 4;\n"
)
"""Definitions of the inputs; ``u`` follows from ``fed``: rows come, change and go."""

SET_OPERATIONS = ("UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
_ENDINGS = ("UNION", "INTERSECT", "EXCEPT", "LIMIT")

Row = tuple[int, str | None, int | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column that an expression can name.

    Attributes:
        text: how it is named.
        kind: ``text`` or ``number``.
    """

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query and the kinds of its columns, which are named ``c0``, ``c1``, …"""

    text: str
    kinds: tuple[str, ...]


def rows(rnd: Random, ids: Sequence[int], most: int = 4) -> list[Row]:
    """Return some rows.

    Args:
        rnd: the generator.
        ids: what their ids are taken from.
        most: how many at most.
    """
    count = rnd.randint(0, most)
    return [(rnd.choice(ids), rnd.choice(KEYS), rnd.choice(NUMBERS)) for _ in range(count)]


def query(rnd: Random, depth: int = 2) -> Query:
    """Return a random query.

    Args:
        rnd: the generator.
        depth: how deep subqueries may stand in it.
    """
    if depth and rnd.random() < 0.2:
        return _combined(rnd, depth)
    return _select(rnd, depth, None)


def folded(rnd: Random) -> Query:
    """Return a random query that rule 2 keeps.

    Args:
        rnd: the generator.
    """
    source, columns = _bags(rnd, 2)
    where = f" WHERE {_condition(rnd, columns)}" if rnd.random() < 0.4 else ""
    rows_go = f"{CORRECTED} " in source
    last = [Column(f"last.{column}", kind) for column, kind in COLUMNS]
    optional = not rows_go and rnd.random() < 0.5
    if optional:
        on = _join_condition(rnd, columns, last)
        source = f"{source} LEFT JOIN {rnd.choice(LOGS)} last ON {on}"
    kinds = tuple(rnd.choice(("text", "number")) for _ in range(rnd.randint(0, 2)))
    keys = list(dict.fromkeys(_value(rnd, columns, kind) for kind in kinds))
    if keys and not optional and rnd.random() < 0.2:
        return Query(f"SELECT DISTINCT {_named(keys)} FROM {source}{where}", kinds)
    number = rnd.randint(0 if keys else 1, 3)
    if optional:
        calls = ("count({})", "min({})", "max({})", "CAST(sum({} + 1) AS BIGINT)", "avg({} * 2)")
        folds = [rnd.choice(calls).format(rnd.choice(("last.id", "last.x"))) for _ in range(number)]
    else:
        folds = [_fold(rnd, columns, rows_go) for _ in range(number)]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    items = [*(keys if rnd.random() < 0.8 or not folds else []), *folds]
    return Query(f"SELECT {_named(items)} FROM {source}{where}{group}", kinds)


def _bags(rnd: Random, depth: int) -> tuple[str, list[Column]]:
    """Inner joins of tables, and of UNION ALL of the same."""
    text, columns = "", list[Column]()
    for number in range(rnd.choice((1, 1, 2, 2, 3))):
        alias = f"t{depth}{number}"
        own = [Column(f"{alias}.{column}", kind) for column, kind in COLUMNS]
        item = rnd.choice((*LOGS, CORRECTED, CORRECTED))
        if depth and rnd.random() < 0.3:
            item = f"({' UNION ALL '.join(_bag(rnd, depth - 1) for _ in range(rnd.randint(1, 2)))})"
        joined = f" JOIN {item} {alias} ON {_join_condition(rnd, columns, own)}" if text else ""
        text, columns = f"{text}{joined}" if text else f"{item} {alias}", [*columns, *own]
    return text, columns


def _bag(rnd: Random, depth: int) -> str:
    source, columns = _bags(rnd, depth)
    items = [f"{_value(rnd, columns, kind)} AS {column}" for column, kind in COLUMNS]
    where = f" WHERE {_condition(rnd, columns)}" if rnd.random() < 0.3 else ""
    return f"SELECT {', '.join(items)} FROM {source}{where}"


def _fold(rnd: Random, columns: Sequence[Column], rows_go: bool) -> str:
    """An aggregate that folds, over rows that also go or over those that only come."""
    value, condition = _value(rnd, columns, "number"), _condition(rnd, columns)
    where = f" FILTER (WHERE {_condition(rnd, columns)})" if rnd.random() < 0.2 else ""
    calls = (
        "count(*)",
        f"count({rnd.choice(columns).text})",
        f"sum(CAST({value} AS DECIMAL(12, 9)))",
        f"avg({value})",
        f"bool_and({condition})",
        f"bool_or({condition})",
    )
    more = () if rows_go else (f"min({value})", f"max({value})")
    # what they are wrapped in is DuckDB's need: its sums are wider, and its count_if can be NULL
    wrapped = (f"CAST(sum({value}){where} AS BIGINT)", f"coalesce(count_if({condition}){where}, 0)")
    return rnd.choice((*(f"{call}{where}" for call in (*calls, *more)), *wrapped))


def _combined(rnd: Random, depth: int) -> Query:
    kinds = tuple(rnd.choice(("text", "number")) for _ in range(rnd.randint(1, 2)))
    text = _select(rnd, depth - 1, kinds).text
    for _ in range(rnd.randint(1, 2)):
        word = rnd.choice(("UNION ALL", "UNION ALL", *SET_OPERATIONS))
        text = f"{_bracketed(text)} {word} {_bracketed(_select(rnd, depth - 1, kinds).text)}"
    return Query(text, kinds)


def _bracketed(text: str) -> str:
    return f"({text})" if any(f" {word} " in text for word in _ENDINGS) else text


def _select(rnd: Random, depth: int, kinds: tuple[str, ...] | None) -> Query:
    source, columns = _from(rnd, depth)
    where = f" WHERE {_where(rnd, columns, depth)}" if rnd.random() < 0.5 else ""
    way = rnd.choice(("plain", "plain", "distinct", "over", "over", "groups", "groups", "groups"))
    wanted = kinds or tuple(rnd.choice(("text", "number")) for _ in range(rnd.randint(1, 3)))
    if way == "over":
        return _over(rnd, f"{source}{where}", columns, wanted)
    if way != "groups":
        items = [_value(rnd, columns, kind) for kind in wanted]
        distinct = "DISTINCT " if way == "distinct" else ""
        text = f"SELECT {distinct}{_named(items)} FROM {source}{where}"
        return Query(text + (_limit(rnd, wanted) if rnd.random() < 0.15 else ""), wanted)
    keys: list[str] = []
    items = []
    for kind in wanted:
        if rnd.random() < 0.5:
            items.append(_value(rnd, columns, kind))
            keys.append(items[-1])
        else:
            items.append(_aggregate(rnd, columns, kind))
    if rnd.random() < 0.2:
        keys.append(_value(rnd, columns, rnd.choice(("text", "number"))))
    keys = [key for key in dict.fromkeys(keys) if not key.startswith("'")]
    listed = ", ".join(keys)
    sets = rnd.choice(("ROLLUP", "CUBE")) if keys and rnd.random() < 0.15 else ""
    group = f" GROUP BY {sets} ({listed})" if sets else f" GROUP BY {listed}" if keys else ""
    having = f" HAVING {_aggregate(rnd, columns, 'number')} > 1" if rnd.random() < 0.25 else ""
    text = f"SELECT {_named(items)} FROM {source}{where}{group}{having}"
    return Query(text + (_limit(rnd, wanted) if rnd.random() < 0.1 else ""), wanted)


def _limit(rnd: Random, kinds: Sequence[str]) -> str:
    order = [f"c{n}{rnd.choice(('', ' DESC', ' NULLS FIRST'))}" for n in range(len(kinds))]
    rnd.shuffle(order)
    return f" ORDER BY {', '.join(order)} LIMIT {rnd.randint(1, 4)}"


def _over(rnd: Random, source: str, columns: Sequence[Column], kinds: tuple[str, ...]) -> Query:
    count = min(rnd.randint(0, 2), len(columns))
    keys = [column.text for column in rnd.sample(columns, count)]
    items = [
        _value(rnd, columns, kind) if rnd.random() < 0.4 else _window(rnd, columns, kind, keys)
        for kind in kinds
    ]
    qualify = ""
    if rnd.random() < 0.4:
        qualify = f" QUALIFY {_window(rnd, columns, 'number', keys)} <= 2"
    elif not any(" OVER " in item for item in items):
        items[0] = _window(rnd, columns, kinds[0], keys)
    return Query(f"SELECT {_named(items)} FROM {source}{qualify}", kinds)


def _window(rnd: Random, columns: Sequence[Column], kind: str, keys: Sequence[str]) -> str:
    """A call with OVER whose order leaves no ties: DuckDB gets the text as it is."""
    by = [*keys] if rnd.random() < 0.8 else [*keys, rnd.choice(columns).text]
    order = [f"{c.text}{rnd.choice(('', ' DESC', ' NULLS FIRST'))}" for c in columns]
    rnd.shuffle(order)
    value = _value(rnd, columns, kind)
    if kind == "text":
        call = rnd.choice(("lag({0})", "lead({0}, 2)", "first_value({0})", "min({0})"))
    else:
        calls = ("row_number()", "rank()", "dense_rank()", "lag({0})", "count(*)", "max({0})")
        call = rnd.choice(calls)
    frames = ("", "", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
    frame = rnd.choice(frames) if call.startswith(("min", "max", "count")) else ""
    partition = f"PARTITION BY {', '.join(by)} " if by else ""
    return f"{call.format(value)} OVER ({partition}ORDER BY {', '.join(order)}{frame})"


def _named(items: Sequence[str]) -> str:
    return ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))


def _from(rnd: Random, depth: int) -> tuple[str, list[Column]]:
    text, columns = _item(rnd, depth, "t0")
    for number in range(1, rnd.choice((1, 1, 1, 2, 2, 3))):
        item, own = _item(rnd, depth, f"t{number}")
        side = rnd.choice(("", "", "LEFT ", "LEFT ", "RIGHT ", "FULL "))
        text += f" {side}JOIN {item} ON {_join_condition(rnd, columns, own)}"
        columns = [*columns, *own]
    return text, columns


def _item(rnd: Random, depth: int, alias: str) -> tuple[str, list[Column]]:
    if depth and rnd.random() < 0.3:
        inner = query(rnd, depth - 1)
        columns = [Column(f"{alias}.c{n}", kind) for n, kind in enumerate(inner.kinds)]
        return f"({inner.text}) {alias}", columns
    name = rnd.choice((*LOGS, CORRECTED))
    return f"{name} {alias}", [Column(f"{alias}.{column}", kind) for column, kind in COLUMNS]


def _join_condition(rnd: Random, left: Sequence[Column], right: Sequence[Column]) -> str:
    pairs = [(one, two) for one in left for two in right if one.kind == two.kind]
    if not pairs:
        return "true" if rnd.random() < 0.3 else f"{rnd.choice(right).text} IS NOT NULL"
    one, two = rnd.choice(pairs)
    text = f"{one.text} = {two.text}"
    if rnd.random() < 0.3:
        one, two = rnd.choice(pairs)
        text += f" AND {one.text} {rnd.choice(('<', '<>', '>='))} {two.text}"
    return text


def _where(rnd: Random, columns: Sequence[Column], depth: int) -> str:
    if not depth or rnd.random() < 0.55:
        return _condition(rnd, columns)
    text = _predicate(rnd, columns, depth)
    if rnd.random() < 0.4:
        text = f"({text} {rnd.choice(('AND', 'OR'))} {_condition(rnd, columns)})"
    return text


def _predicate(rnd: Random, columns: Sequence[Column], depth: int) -> str:
    """A condition with a subquery."""
    column = rnd.choice(columns)
    name, own = rnd.choice((*LOGS, CORRECTED)), [Column(f"s.{c}", kind) for c, kind in COLUMNS]
    number, other = _value(rnd, columns, "number"), rnd.choice([c for c in own if c.kind != "text"])
    same = rnd.choice([c for c in own if c.kind == column.kind])
    way = rnd.choice(("in", "in", "exists", "exists", "scalar", "count"))
    negated = rnd.choice(("", "NOT "))
    if way == "in" and rnd.random() < 0.5:
        inner = _select(rnd, depth - 1, (column.kind,)).text
        return f"{column.text} {negated}IN (SELECT q.c0 FROM ({inner}) q)"
    meets = f"{same.text} {rnd.choice(('=', '=', '>'))} {column.text}"
    also = f" AND {_condition(rnd, own)}" if rnd.random() < 0.4 else ""
    if way == "in":
        first = rnd.choice((f" WHERE {meets}", f" WHERE {_condition(rnd, own)}", ""))
        return f"{number} {negated}IN (SELECT {other.text} FROM {name} s{first})"
    if way == "exists":
        return f"{negated}EXISTS (SELECT 1 FROM {name} s WHERE {meets}{also})"
    if way == "scalar":
        return f"{number} >= (SELECT max({other.text}) FROM {name} s WHERE {_condition(rnd, own)})"
    equal = f"{same.text} = {column.text}"
    return f"(SELECT count(*) FROM {name} s WHERE {equal}{also}) > 1"


def _condition(rnd: Random, columns: Sequence[Column]) -> str:
    column = rnd.choice(columns)
    constant = "'v'" if column.kind == "text" else "1"
    terms = (
        f"{column.text} IS NULL",
        f"{column.text} IS NOT NULL",
        f"{column.text} > {constant}",
        f"{column.text} <> {constant}",
        f"coalesce({column.text}, {constant}) = {constant}",
    )
    text = rnd.choice(terms)
    if rnd.random() < 0.3:
        text = f"({text} {rnd.choice(('AND', 'OR'))} {_condition(rnd, columns)})"
    return text


def _value(rnd: Random, columns: Sequence[Column], kind: str) -> str:
    fitting = [column.text for column in columns if column.kind == kind]
    if not fitting:
        column = rnd.choice(columns).text
        return f"CASE WHEN {column} IS NULL THEN {_constant(kind)} END"
    text = rnd.choice(fitting)
    if rnd.random() < 0.2:
        return f"coalesce({text}, {_constant(kind)})"
    return text


def _constant(kind: str) -> str:
    return "'none'" if kind == "text" else "CAST(7 AS BIGINT)"


def _aggregate(rnd: Random, columns: Sequence[Column], kind: str) -> str:
    value = _value(rnd, columns, kind)
    if kind == "text":
        return f"{rnd.choice(('min', 'max'))}({value})"
    any_value = rnd.choice(columns).text
    return rnd.choice(
        (
            "count(*)",
            f"count({any_value})",
            f"count(DISTINCT {any_value})",
            f"min({value})",
            f"max({value})",
            f"CAST(sum({value}) AS BIGINT)",
        )
    )
