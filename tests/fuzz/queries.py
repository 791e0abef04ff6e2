"""Random SELECTs from the grammar that is kept incrementally.

In: a random generator with a schema. Out: SQL text that means the same in Headwater and, by way of
:mod:`tests.fuzz.oracle`, in DuckDB.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.fuzz.expressions import (
    Column,
    aggregate,
    comparable,
    condition,
    literal,
    value,
    window,
)
from tests.fuzz.schemas import INPUTS, KEYED, KINDS, LOGS, MOVING, Draw, elements

SET_OPERATIONS = ("UNION", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL")
_ENDINGS = ("UNION", "INTERSECT", "EXCEPT", "LIMIT")
_ALIASES = "tsrq"
"""First letter of the aliases of a query, of a subquery in its expressions, of one in that, …"""


@dataclass(frozen=True, slots=True)
class Query:
    """A query and the kinds of its columns, which are named ``c0``, ``c1``, …"""

    text: str
    kinds: tuple[str, ...]


def _kind(rnd: Draw) -> str:
    return rnd.choice(rnd.schema.kinds)


def _comparable(rnd: Draw, name: str) -> dict[str, str]:
    return {c: kind for c, kind in rnd.schema.inputs[name].items() if not elements(kind)}


def _columns(rnd: Draw, name: str, alias: str) -> list[Column]:
    return [Column(f"{alias}.{c}", kind) for c, kind in _comparable(rnd, name).items()]


def query(rnd: Draw, depth: int = 2) -> Query:
    """Return a random query.

    Args:
        rnd: the generator, and what there is to read.
        depth: how deep subqueries may stand in it.
    """
    if depth and rnd.random() < 0.2:
        return _combined(rnd, depth)
    return _select(rnd, depth, None)


def folded(rnd: Draw) -> Query:
    """Return a random query that fold keeps.

    Args:
        rnd: the generator, and what there is to read.
    """
    if rnd.random() < 0.3:
        return _folded_with_others(rnd)
    if rnd.random() < 0.2:
        return _folded_parts(rnd)
    source, columns = _bags(rnd, 2)
    where = f" WHERE {condition(rnd, columns)}" if rnd.random() < 0.4 else ""
    rows_go = any(f"{name} " in source for name in MOVING)
    name = rnd.choice(LOGS)
    last = _columns(rnd, name, "last")
    optional = not rows_go and rnd.random() < 0.5
    if optional:
        on = _join_condition(rnd, columns, last)
        source = f"{source} LEFT JOIN {name} last ON {on}"
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(0, 2)))
    keys = list(dict.fromkeys(value(rnd, columns, kind) for kind in kinds))
    if keys and not optional and rnd.random() < 0.2:
        return Query(f"SELECT DISTINCT {_named(keys)} FROM {source}{where}", kinds)
    number = rnd.randint(0 if keys else 1, 3)
    if optional:
        calls = ("count({})", "min({})", "max({})", "CAST(sum({} + 1) AS BIGINT)", "avg({} * 2)")
        numbers = [column.text for column in last if column.kind == "number"]
        folds = [rnd.choice(calls).format(rnd.choice(numbers)) for _ in range(number)]
    else:
        folds = [_fold(rnd, columns, rows_go) for _ in range(number)]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    items = [*(keys if rnd.random() < 0.8 or not folds else []), *folds]
    return Query(f"SELECT {_named(items)} FROM {source}{where}{group}", kinds)


def _folded_with_others(rnd: Draw) -> Query:
    """Groups of outer joins, and of rows for which something is there or not."""
    source, columns = "", list[Column]()
    for number in range(rnd.choice((1, 2, 2, 3))):
        name, alias = rnd.choice(INPUTS), f"t{number}"
        own = _columns(rnd, name, alias)
        side = rnd.choice(("", "LEFT ", "LEFT ", "RIGHT ", "FULL "))
        joined = f" {side}JOIN {name} {alias} ON {_join_condition(rnd, columns, own)}"
        source = f"{source}{joined}" if source else f"{name} {alias}"
        columns += own
    terms = [condition(rnd, columns)] if rnd.random() < 0.3 else []
    terms += [_found(rnd, columns)] if rnd.random() < 0.4 else []
    where = f" WHERE {' AND '.join(terms)}" if terms else ""
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(0, 2)))
    keys = list(dict.fromkeys(value(rnd, columns, kind) for kind in kinds))
    if keys and rnd.random() < 0.2:
        return Query(f"SELECT DISTINCT {_named(keys)} FROM {source}{where}", kinds)
    folds = [_fold(rnd, columns, rows_go=True) for _ in range(rnd.randint(0 if keys else 1, 3))]
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    items = [*(keys if rnd.random() < 0.8 or not folds else []), *folds]
    return Query(f"SELECT {_named(items)} FROM {source}{where}{group}", kinds)


def _folded_parts(rnd: Draw) -> Query:
    """Groups of groups, of ranks or of what sets have or lack."""
    name, other = rnd.choice(INPUTS), rnd.choice(INPUTS)
    columns = _columns(rnd, name, "t0")
    kind = _kind(rnd)
    key, by = value(rnd, columns, kind), value(rnd, columns, _kind(rnd))
    row = rnd.choice(("rank", "dense_rank"))
    sets = rnd.choice(("UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"))
    right = value(rnd, _columns(rnd, other, "t1"), kind)
    within = rnd.choice(
        (
            f"SELECT {key} AS c0, count(*) AS n FROM {name} t0 GROUP BY {key}",
            f"SELECT {by} AS c0, {row}() OVER (PARTITION BY {key} ORDER BY {by}) AS n"
            f" FROM {name} t0",
            f"SELECT q.c0, 1 AS n FROM (SELECT {key} AS c0 FROM {name} t0"
            f" {sets} SELECT {right} AS c0 FROM {other} t1) AS q",
        )
    )
    call = rnd.choice(("count(q.c0)", "CAST(sum(q.n) AS BIGINT)", "count_if(q.n > 1)"))
    return Query(
        f"SELECT q.n AS c0, {call} AS c1 FROM ({within}) AS q GROUP BY q.n", ("number",) * 2
    )


def linear(rnd: Draw, most: int = 3) -> Query:
    """Return a random query that append keeps: rows of logs, each on its own or joined.

    Args:
        rnd: the generator, and what there is to read.
        most: how many items FROM has at most.
    """
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(1, 3)))
    branches = []
    for _ in range(rnd.choice((1, 1, 2, 3))):
        source, columns = _bags(rnd, 1, LOGS, most)
        if most == 1:
            more, columns = _unnested(rnd, [*columns, *_lists(rnd, source)], "un")
            source += more
        where = f" WHERE {condition(rnd, columns)}" if rnd.random() < 0.5 else ""
        items = _named([value(rnd, columns, kind) for kind in kinds])
        branches.append(f"SELECT {items} FROM {source}{where}")
    return Query(" UNION ALL ".join(branches), kinds)


def keyed(rnd: Draw) -> Query:
    """Return a random query that exact change keeps: rows of inputs with a key, joined, by it.

    Args:
        rnd: the generator, and what there is to read.
    """
    source, columns, keys = "", list[Column](), list[str]()
    for number in range(rnd.choice((1, 2, 2, 3))):
        name, alias = rnd.choice(MOVING), f"t{number}"
        own = _columns(rnd, name, alias)
        # ids of others may be NULL, as those of a side without a match are
        sides = ("", "", "LEFT ", *["FULL "] * (source == f"{KEYED} t0" and name == KEYED))
        joined = f" {rnd.choice(sides)}JOIN {name} {alias} ON {_join_condition(rnd, columns, own)}"
        source = f"{source}{joined}" if source else f"{name} {alias}"
        columns, keys = [*columns, *own], [*keys, f"{alias}.id"]
    terms = [condition(rnd, columns)] if rnd.random() < 0.4 else []
    terms += [_found(rnd, columns) for _ in range(rnd.choice((0, 0, 1, 1, 2)))]
    where = f" WHERE {rnd.choice((' AND ', ' OR ')).join(terms)}" if terms else ""
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(0, 2)))
    items = [*keys, *(value(rnd, columns, kind) for kind in kinds)]
    return Query(f"SELECT {_named(items)} FROM {source}{where}", ("number",) * len(keys) + kinds)


def _found(rnd: Draw, columns: Sequence[Column]) -> str:
    """A condition on what single rows of another input are there."""
    name = rnd.choice(INPUTS)
    own = _columns(rnd, name, "s")
    where = f" WHERE {_join_condition(rnd, columns, own)}"
    where += f" AND {condition(rnd, own)}" if rnd.random() < 0.4 else ""
    wanted = rnd.choice(("", "NOT "))
    if rnd.random() < 0.5:
        return f"{wanted}EXISTS (SELECT 1 FROM {name} s{where})"
    where = where if rnd.random() < 0.6 else ""
    kind = rnd.choice([each.kind for each in own])
    rows = f"SELECT {value(rnd, own, kind)} FROM {name} s{where}"
    return f"({value(rnd, columns, kind)}) {wanted}IN ({rows})"


def grouped(rnd: Draw) -> Query:
    """Return a random query that affected keys keeps: aggregates of a log's rows that do not fold.

    Args:
        rnd: the generator, and what there is to read.
    """
    source, columns = _bags(rnd, 1, LOGS, 1)
    where = f" WHERE {condition(rnd, columns)}" if rnd.random() < 0.4 else ""
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(1, 2)))
    keys = list(dict.fromkeys(value(rnd, columns, kind) for kind in kinds))
    calls = [aggregate(rnd, columns, _kind(rnd)) for _ in range(rnd.randint(0, 2))]
    calls.append(f"count(DISTINCT {rnd.choice(columns).text})")
    having = f" HAVING count(*) {rnd.choice('<>')} {rnd.randint(1, 3)}" * (rnd.random() < 0.5)
    group = f" GROUP BY {', '.join(keys)}{having}"
    return Query(f"SELECT {_named([*keys, *calls])} FROM {source}{where}{group}", kinds)


def first(rnd: Draw) -> Query:
    """Return a random query for the first rows of logs, of all of them or of groups.

    Args:
        rnd: the generator, and what there is to read.
    """
    source, columns = _bags(rnd, 1, LOGS, 2)
    where = f" WHERE {condition(rnd, columns)}" if rnd.random() < 0.4 else ""
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(1, 2)))
    items = [value(rnd, columns, kind) for kind in kinds]
    ends = ("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
    if rnd.random() < 0.4:
        return Query(f"SELECT {_named(items)} FROM {source}{where}{_limit(rnd, kinds)}", kinds)
    # no ties that differ in what is shown
    order = [f"{item}{rnd.choice(ends)}" for item in rnd.sample(items, len(items))]
    order.insert(0, f"{rnd.choice(columns).text}{rnd.choice(ends)}")
    keys = [column.text for column in rnd.sample(columns, rnd.randint(0, 2))]
    by = f"PARTITION BY {', '.join(keys)} " if keys else ""
    call = f"{rnd.choice(('row_number', 'rank', 'dense_rank'))}() OVER ({by}ORDER BY"
    place = f"{call} {', '.join(order)})"
    if rnd.random() < 0.3:  # in a level of its own, beside and above which numbers are computed
        numbers = [kind == "number" for kind in kinds]
        own = [f"{item} + 1" if each else item for item, each in zip(items, numbers, strict=True)]
        above = [f"w.c{n} * 2" if each else f"w.c{n}" for n, each in enumerate(numbers)]
        inner = f"SELECT {_named(own)}, {place} AS place FROM {source}{where}"
        text = f"SELECT {_named(above)} FROM ({inner}) AS w WHERE w.place <= {rnd.randint(1, 3)}"
        return Query(text, kinds)
    if rnd.random() < 0.3:
        kinds, items = (*kinds, "number"), [*items, place]
    text = f"SELECT {_named(items)} FROM {source}{where} QUALIFY {place} <= {rnd.randint(1, 3)}"
    return Query(text, kinds)


def _lists(rnd: Draw, source: str) -> list[Column]:
    """The columns with lists of the only item of FROM, if it is an input."""
    name, alias = source.split(" ")[0], source.split(" ")[-1]
    held = rnd.schema.inputs.get(name, {})
    return [Column(f"{alias}.{c}", kind) for c, kind in held.items() if elements(kind)]


def _bags(
    rnd: Draw, depth: int, among: Sequence[str] = INPUTS, most: int = 3
) -> tuple[str, list[Column]]:
    """Inner joins of some inputs, and of UNION ALL of the same."""
    text, columns = "", list[Column]()
    for number in range(min(rnd.choice((1, 1, 2, 2, 3)), most)):
        alias = f"t{depth}{number}"
        item = rnd.choice(among)
        own = _columns(rnd, item, alias)
        if depth and rnd.random() < 0.3:
            bags = (_bag(rnd, depth - 1, item, among, most) for _ in range(rnd.randint(1, 2)))
            item = f"({' UNION ALL '.join(bags)})"
        joined = f" JOIN {item} {alias} ON {_join_condition(rnd, columns, own)}" if text else ""
        text, columns = f"{text}{joined}" if text else f"{item} {alias}", [*columns, *own]
    return text, columns


def _bag(rnd: Draw, depth: int, like: str, among: Sequence[str], most: int) -> str:
    """A SELECT with the columns of an input."""
    source, columns = _bags(rnd, depth, among, most)
    items = [f"{value(rnd, columns, kind)} AS {c}" for c, kind in _comparable(rnd, like).items()]
    where = f" WHERE {condition(rnd, columns)}" if rnd.random() < 0.3 else ""
    return f"SELECT {', '.join(items)} FROM {source}{where}"


def _fold(rnd: Draw, columns: Sequence[Column], rows_go: bool) -> str:
    """An aggregate that folds, over rows that also go or over those that only come."""
    number, true = value(rnd, columns, "number"), condition(rnd, columns)
    where = f" FILTER (WHERE {condition(rnd, columns)})" if rnd.random() < 0.2 else ""
    calls = (
        "count(*)",
        f"count({rnd.choice(columns).text})",
        f"sum(CAST({number} AS DECIMAL(12, 9)))",
        f"avg({number})",
        f"bool_and({true})",
        f"bool_or({true})",
    )
    by = f"({rnd.choice(columns).text}, {rnd.choice(columns).text})"
    ends = ("any_value", "min", "max")
    more = (
        [] if rows_go else [*(f"{name}({number})" for name in ends), f"min_by{by}", f"max_by{by}"]
    )
    # what they are wrapped in is DuckDB's need: its sums are wider, and its count_if can be NULL
    wrapped = (f"CAST(sum({number}){where} AS BIGINT)", f"coalesce(count_if({true}){where}, 0)")
    return rnd.choice((*(f"{call}{where}" for call in (*calls, *more)), *wrapped))


def _combined(rnd: Draw, depth: int) -> Query:
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(1, 2)))
    text = _select(rnd, depth - 1, kinds).text
    for _ in range(rnd.randint(1, 2)):
        word = rnd.choice(("UNION ALL", "UNION ALL", *SET_OPERATIONS))
        text = f"{_bracketed(text)} {word} {_bracketed(_select(rnd, depth - 1, kinds).text)}"
    return Query(text, kinds)


def with_constants(rnd: Draw) -> Query:
    """Return a random query beside rows that no table brings.

    Args:
        rnd: the generator, and what there is to read.
    """
    rows = _select(rnd, 1, tuple(_kind(rnd) for _ in range(rnd.randint(1, 2))))
    columns = [Column(f"c{at}", kind) for at, kind in enumerate(rows.kinds)]
    values = [literal(kind) if rnd.random() < 0.8 else "NULL" for kind in rows.kinds]
    where = " WHERE 1 = 2" if rnd.random() < 0.1 else ""
    constant = f"SELECT {_named(values)}{where}"
    if rnd.random() < 0.5:
        word = rnd.choice(("UNION ALL", *SET_OPERATIONS))
        sides = [_bracketed(rows.text), constant]
        rnd.shuffle(sides)
        return Query(f" {word} ".join(sides), rows.kinds)
    key = rnd.choice(columns)
    given = f"UNNEST(ARRAY[{literal(key.kind)}, CAST(NULL AS {KINDS[key.kind].type})]) AS u(x)"
    items = _named(["count(*) OVER ()", *(f"q.{each.text}" for each in columns)])
    on = f"u.x = q.{key.text}"
    text = f"SELECT {items} FROM {given} LEFT JOIN ({rows.text}) q ON {on}"
    return Query(text, ("number", *rows.kinds))


def _bracketed(text: str) -> str:
    return f"({text})" if any(f" {word} " in text for word in _ENDINGS) else text


def _select(rnd: Draw, depth: int, kinds: tuple[str, ...] | None) -> Query:
    source, columns = _from(rnd, depth, _ALIASES[0])
    where = f" WHERE {_where(rnd, columns, depth, 1)}" if rnd.random() < 0.5 else ""
    way = rnd.choice(("plain", "plain", "distinct", "over", "over", "groups", "groups", "groups"))
    wanted = kinds or tuple(_kind(rnd) for _ in range(rnd.randint(1, 3)))
    if way == "over":
        return _over(rnd, f"{source}{where}", columns, wanted, depth)
    if way == "groups":
        return _groups(rnd, f"{source}{where}", columns, wanted, depth, grows=kinds is None)
    items = [_item_of_row(rnd, columns, kind, depth) for kind in wanted]
    distinct = "DISTINCT " if way == "distinct" else ""
    text = f"SELECT {distinct}{_named(items)} FROM {source}{where}"
    limit = _limit(rnd, wanted, computed=not distinct) if rnd.random() < 0.15 else ""
    return Query(text + limit, wanted)


def _item_of_row(rnd: Draw, columns: Sequence[Column], kind: str, depth: int) -> str:
    if depth and rnd.random() < 0.15:
        around = columns if rnd.random() < 0.6 else ()
        return _scalar(rnd, around, kind, depth, 1)
    text = literal(kind) if rnd.random() < 0.08 else value(rnd, columns, kind)
    if depth and rnd.random() < 0.15:
        return f"CASE WHEN {_below(rnd, columns, depth)} THEN {text} END"
    return text


def _groups(
    rnd: Draw,
    source: str,
    columns: Sequence[Column],
    kinds: tuple[str, ...],
    depth: int,
    *,
    grows: bool,
) -> Query:
    """GROUP BY; it may select more than it has to."""
    keys: list[Column] = []
    items = []
    for kind in kinds:
        if rnd.random() < 0.5:
            items.append(value(rnd, columns, kind))
            keys.append(Column(items[-1], kind))
        elif depth and rnd.random() < 0.1:
            items.append(_scalar(rnd, (), kind, depth, 1))
        else:
            items.append(aggregate(rnd, columns, kind))
    if rnd.random() < 0.2:
        kind = _kind(rnd)
        keys.append(Column(value(rnd, columns, kind), kind))
    keys = list({key.text: key for key in keys}.values())
    sets = rnd.choice(("ROLLUP", "CUBE", "GROUPING SETS")) if rnd.random() < 0.2 else ""
    group = _group_by(rnd, [key.text for key in keys], sets)
    # DuckDB looks for the columns of keys that are expressions
    said = [] if sets else [key for key in keys if key.text in {each.text for each in columns}]
    if depth and said and rnd.random() < 0.2:
        at = rnd.randrange(len(items))
        items[at] = f"CASE WHEN {_below(rnd, said, depth)} THEN {items[at]} END"
    if grows and keys and sets and rnd.random() < 0.5:
        kinds, items = (*kinds, "number"), [*items, f"grouping({keys[0].text})"]
    elif grows and keys and not sets and rnd.random() < 0.2:
        kind = _kind(rnd)
        kinds, items = (*kinds, kind), [*items, window(rnd, keys, kind, ())]
    having = ""
    if rnd.random() < 0.25:
        least = "1" if not depth or rnd.random() < 0.7 else _scalar(rnd, (), "number", depth, 1)
        having = f" HAVING {aggregate(rnd, columns, 'number')} > {least}"
        if depth and said and rnd.random() < 0.4:
            having += f" {rnd.choice(('AND', 'OR'))} {_below(rnd, said, depth)}"
    limit = _limit(rnd, kinds) if rnd.random() < 0.1 else ""
    if grows and not limit and rnd.random() < 0.15:
        kinds = (*kinds, f"{_kind(rnd)}[]")
        items.append(aggregate(rnd, columns, kinds[-1]))
    return Query(f"SELECT {_named(items)} FROM {source}{group}{having}{limit}", kinds)


def _below(rnd: Draw, columns: Sequence[Column], depth: int) -> str:
    """A condition with a subquery that does not stand on its own."""
    text = _predicate(rnd, columns, depth, 1)
    ways = (
        f"NOT ({text})",
        f"({text}) IS NULL",
        f"CASE WHEN {text} THEN {condition(rnd, columns)} ELSE true END",
        f"NOT ({condition(rnd, columns)} OR {text})",
    )
    return rnd.choice(ways)


def _group_by(rnd: Draw, keys: Sequence[str], sets: str) -> str:
    listed = ", ".join(keys)
    if not keys:
        return ""
    if sets == "GROUPING SETS":
        some = ", ".join(
            f"({', '.join(rnd.sample(keys, rnd.randint(0, len(keys))))})" for _ in "xy"
        )
        return f" GROUP BY GROUPING SETS (({listed}), {some})"
    return f" GROUP BY {sets} ({listed})" if sets else f" GROUP BY {listed}"


def _limit(rnd: Draw, kinds: Sequence[str], *, computed: bool = False) -> str:
    order = [f"c{n}{rnd.choice(('', ' DESC', ' NULLS FIRST'))}" for n in range(len(kinds))]
    rnd.shuffle(order)
    if computed and rnd.random() < 0.4:  # an output, not the column of FROM of the same name
        n = rnd.randrange(len(kinds))
        order.insert(0, f"coalesce(c{n}, {KINDS[kinds[n]].default})")
    return f" ORDER BY {', '.join(order)} LIMIT {rnd.randint(1, 4)}"


def _over(
    rnd: Draw, source: str, columns: Sequence[Column], kinds: tuple[str, ...], depth: int
) -> Query:
    count = min(rnd.randint(0, 2), len(columns))
    keys = [column.text for column in rnd.sample(columns, count)]
    said = [_scalar(rnd, (), "number", depth, 1)] if depth and rnd.random() < 0.1 else []
    said = [text for text in said if " OVER " not in text]  # DuckDB takes none there
    named: dict[str, str] = {}
    items = [
        _item_of_row(rnd, columns, kind, depth)
        if rnd.random() < 0.4
        else _window_or_else(rnd, columns, kind, [*keys, *said], named)
        for kind in kinds
    ]
    distinct = "DISTINCT " if rnd.random() < 0.15 else ""
    qualify = ""
    if rnd.random() < 0.4:
        qualify = f" QUALIFY {window(rnd, columns, 'number', keys, named)} <= 2"
    elif not any(" OVER " in item for item in items):
        items[0] = window(rnd, columns, kinds[0], keys, named)
    windows = ", ".join(f"{name} AS ({text})" for text, name in named.items())
    ending = f"{f' WINDOW {windows}' if windows else ''}{qualify}"
    return Query(f"SELECT {distinct}{_named(items)} FROM {source}{ending}", kinds)


def _window_or_else(
    rnd: Draw, columns: Sequence[Column], kind: str, keys: Sequence[str], named: dict[str, str]
) -> str:
    """A window function, or a value where it has none."""
    text = window(rnd, columns, kind, keys, named)
    return f"coalesce({text}, {value(rnd, columns, kind)})" if rnd.random() < 0.2 else text


def _named(items: Sequence[str]) -> str:
    return ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))


def _from(rnd: Draw, depth: int, letter: str) -> tuple[str, list[Column]]:
    text, columns = _item(rnd, depth, f"{letter}0")
    more, columns = _unnested(rnd, columns, f"{letter}u")
    text += more
    before: list[Column] = []
    for number in range(1, rnd.choice((1, 1, 1, 2, 2, 3))):
        item, own = _item(rnd, depth, f"{letter}{number}")
        if rnd.random() < 0.1:  # binds after the joins behind it, whose ON sees nothing before it
            text, before, columns = f"{text}, {item}", [*before, *columns], []
        else:
            side = rnd.choice(("", "", "LEFT ", "LEFT ", "RIGHT ", "FULL "))
            text += f" {side}JOIN {item} ON {_join_condition(rnd, columns, own)}"
        more, own = _unnested(rnd, own, f"{letter}{number}u")
        text, columns = text + more, [*columns, *own]
    columns = [*before, *columns]
    if depth and rnd.random() < 0.1:
        more, own = _lateral(rnd, columns, f"{letter}l", depth)
        text, columns = text + more, [*columns, *own]
    return text, columns


def _lateral(
    rnd: Draw, around: Sequence[Column], alias: str, depth: int
) -> tuple[str, list[Column]]:
    """LATERAL: expressions, aggregates, groups, rows or first rows for each row before it."""
    kinds = tuple(_kind(rnd) for _ in range(rnd.randint(1, 2)))
    columns = [Column(f"{alias}.c{n}", kind) for n, kind in enumerate(kinds)]
    side, on = rnd.choice((("CROSS", ""), ("LEFT", " ON TRUE")))
    way = rnd.choice(("computed", "one", "groups", "rows", "first"))
    if way == "computed":
        items = [value(rnd, around, kind) for kind in kinds]
        return f" {side} JOIN LATERAL (SELECT {_named(items)}) AS {alias}{on}", columns
    source, own = _from(rnd, depth - 1, alias)
    signs = ("=", "=", "<", "<>") if way == "rows" else ("=",)
    where = _inner_where(rnd, own, around, signs, depth, 1)
    if way == "one":
        items = [aggregate(rnd, own, kind) for kind in kinds]
    elif way == "groups":
        items = [value(rnd, own, kinds[0]), *(aggregate(rnd, own, kind) for kind in kinds[1:])]
        where += f" GROUP BY {items[0]}"
    else:
        items = [value(rnd, own, kind) for kind in kinds]
        where += _limit(rnd, kinds) if way == "first" else ""
    text = f"SELECT {_named(items)} FROM {source}{where}"
    return f" {side} JOIN LATERAL ({text}) AS {alias}{on}", columns


def _unnested(rnd: Draw, columns: Sequence[Column], alias: str) -> tuple[str, list[Column]]:
    """UNNEST of a list or of the parts of a text, if there is one; columns that can be compared."""
    own = [column for column in columns if not elements(column.kind)]
    lists = [(column.text, elements(column.kind)) for column in columns if elements(column.kind)]
    own += [Column(f"cardinality({text})", "number") for text, _ in lists]
    lists += [(f"split({column.text}, 'v')", "text") for column in own if column.kind == "text"]
    if not lists or rnd.random() > 0.1:
        return "", own
    if rnd.random() < 0.5:
        text, kind = rnd.choice(lists)
        return f" CROSS JOIN UNNEST({text}) AS {alias}(v)", [*own, Column(f"{alias}.v", kind)]
    some = [rnd.choice(lists) for _ in range(rnd.randint(2, 3))]
    names = [f"v{number}" for number in range(len(some))]
    values = ", ".join(text for text, _ in some)
    more = [Column(f"{alias}.{n}", kind) for n, (_, kind) in zip(names, some, strict=True)]
    return f" CROSS JOIN UNNEST({values}) AS {alias}({', '.join(names)})", [*own, *more]


def _item(rnd: Draw, depth: int, alias: str) -> tuple[str, list[Column]]:
    if depth and rnd.random() < 0.3:
        inner = query(rnd, depth - 1)
        columns = [Column(f"{alias}.c{n}", kind) for n, kind in enumerate(inner.kinds)]
        return f"({inner.text}) {alias}", columns
    name = rnd.choice(INPUTS)
    columns = rnd.schema.inputs[name].items()
    return f"{name} {alias}", [Column(f"{alias}.{column}", kind) for column, kind in columns]


def _join_condition(rnd: Draw, left: Sequence[Column], right: Sequence[Column]) -> str:
    pairs = [(one, two) for one in left for two in right if comparable(one, two)]
    if not pairs:
        return "true" if rnd.random() < 0.3 else f"{rnd.choice(right).text} IS NOT NULL"
    one, two = rnd.choice(pairs)
    text = f"{one.text} = {two.text}"
    if rnd.random() < 0.3:
        one, two = rnd.choice(pairs)
        text += f" AND {one.text} {rnd.choice(('<', '<>', '>='))} {two.text}"
    return text


def _where(rnd: Draw, columns: Sequence[Column], depth: int, level: int) -> str:
    """A condition on rows, maybe with a subquery; level is how deep in expressions that stands."""
    if not depth or level == len(_ALIASES) or rnd.random() < 0.55:
        return condition(rnd, columns)
    text = _predicate(rnd, columns, depth, level)
    if rnd.random() < 0.4:
        text = f"({text} {rnd.choice(('AND', 'OR'))} {condition(rnd, columns)})"
    return text


def _predicate(rnd: Draw, columns: Sequence[Column], depth: int, level: int) -> str:
    """A condition with a subquery."""
    way = rnd.choice(("select", "in", "exists", "exists", "scalar", "scalar"))
    negated = rnd.choice(("", "NOT "))
    if way == "select":
        column = rnd.choice(columns)
        inner = _select(rnd, depth - 1, (column.kind,)).text
        return f"{column.text} {negated}IN (SELECT q.c0 FROM ({inner}) q)"
    number = value(rnd, columns, "number")
    if way == "scalar":
        around = columns if rnd.random() < 0.5 else ()
        sign = rnd.choice((">=", "<", "="))
        return f"{number} {sign} {_scalar(rnd, around, 'number', depth, level)}"
    source, own = _from(rnd, depth - 1, _ALIASES[level])
    around = columns if rnd.random() < 0.7 else ()
    where = _inner_where(rnd, own, around, ("=", "=", ">"), depth, level)
    if way == "in":
        return f"{number} {negated}IN (SELECT {value(rnd, own, 'number')} FROM {source}{where})"
    return f"{negated}EXISTS (SELECT 1 FROM {source}{where})"


def _scalar(rnd: Draw, around: Sequence[Column], kind: str, depth: int, level: int) -> str:
    """A scalar subquery that reads columns of the query around, if there are any."""
    source, own = _from(rnd, depth - 1, _ALIASES[level])
    where = _inner_where(rnd, own, around, ("=",), depth, level)
    return f"(SELECT {aggregate(rnd, own, kind)} FROM {source}{where})"


def _inner_where(
    rnd: Draw,
    own: Sequence[Column],
    around: Sequence[Column],
    signs: Sequence[str],
    depth: int,
    level: int,
) -> str:
    """WHERE of a subquery of an expression."""
    pairs = [(one, two) for one in own for two in around if comparable(one, two)]
    terms = []
    if pairs:
        one, two = rnd.choice(pairs)
        terms.append(f"{one.text} {rnd.choice(signs)} {two.text}")
    if rnd.random() < 0.4:
        terms.append(_where(rnd, own, depth - 1, level + 1))
    return f" WHERE {' AND '.join(terms)}" if terms else ""
