"""Random as-of joins: the newest version up to the time of a row.

In: a random generator and two logs. Out: a view in one of the spellings, and DuckDB's own
``ASOF JOIN`` at any commit: over the rows in time, of it what is final. Of versions of one time the
one that arrived last is left before; of one arrival the greatest.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.fuzz.expressions import condition
from tests.fuzz.streams import LATE, TIME, Log, StreamingQuery, late_clause


def as_of_query(rnd: Random, logs: Sequence[Log], *, closes: bool = True) -> StreamingQuery:
    """Return a view with one as-of join or two, of a log with the other one or with itself.

    Args:
        rnd: the generator.
        logs: two of them.
        closes: whether its rows are appended once they are final; otherwise they are corrected.
    """
    one, two = rnd.sample(logs, 2) if rnd.random() < 0.8 else [rnd.choice(logs)] * 2
    late = rnd.choice([*LATE]) if closes else "ACCEPT"
    key = rnd.choice(("k", "k", "id"))
    key = "id" if "float" in (one.kinds[key], two.kinds[key]) else key
    joins = [_join(rnd, ("t", "u"), key, two, _versions(two, key, late))]
    if rnd.random() < 0.3:
        # a time that an outer join may leave out does not say when a row is final
        asked = "t" if closes and "LEFT" in joins[0][1] else rnd.choice("tu")
        joins.append(_join(rnd, (asked, "v"), "id", one, _versions(one, "id", late)))
    aliases = "tuv"[: len(joins) + 1]
    items = [f"{a}.id AS {a}_id, {a}.{TIME} AS {a}_{TIME}" for a in aliases]
    names = tuple(f"{a}_{name}" for a in aliases for name in ("id", TIME))
    where = ""
    if rnd.random() < 0.4:
        alias, log = rnd.choice((("t", one), ("u", two)))
        where = f" WHERE {condition(rnd, log.columns(alias))}"
    ours, theirs = (
        f"SELECT {', '.join(items)} FROM {start} t {' '.join(join[side] for join in joins)}{where}"
        for side, start in enumerate((one.name, f"(SELECT * FROM {_rows(one, late)})"))
    )
    final = "true"
    if closes:
        final = f"t_{TIME} + INTERVAL {LATE[late]} SECOND < getvariable('w')"
    used = tuple(dict.fromkeys((one.name, two.name)))
    return StreamingQuery(
        ours,
        names,
        used,
        f"SELECT * FROM ({theirs}) WHERE {final}",
        late_clause(late) if closes else "",
        " EMIT ON WINDOW CLOSE" if closes else "",
        engine="incremental",
    )


def _join(
    rnd: Random, aliases: tuple[str, str], key: str, log: Log, versions: str
) -> tuple[str, str]:
    """A join as we write it, and as DuckDB does.

    Args:
        aliases: of the row and of the version.
        versions: of each time the last one, as DuckDB writes it.
    """
    left, alias = aliases
    equal, side = f"{left}.{key} = {alias}.{key}", rnd.choice(("", "LEFT "))
    form = rnd.choice(("system time", "match", "on"))
    strict = form != "system time" and rnd.random() < 0.4
    compared = f"{left}.{TIME} {'>' if strict else '>='} {alias}.{TIME}"
    theirs = f"ASOF {side}JOIN {versions} {alias} ON {equal} AND {compared}"
    if form == "system time":
        ours = f"{side}JOIN {log.name} FOR SYSTEM_TIME AS OF {left}.{TIME} AS {alias} ON {equal}"
    elif form == "match":
        kind = rnd.choice((side, "")) if side else "INNER "
        ours = f"ASOF {kind}JOIN {log.name} {alias} MATCH_CONDITION ({compared}) ON {equal}"
    else:
        flipped = f"{alias}.{TIME} {'<' if strict else '<='} {left}.{TIME}"
        ours = (
            f"ASOF {side}JOIN {log.name} {alias} ON {rnd.choice((compared, flipped))} AND {equal}"
        )
    return ours, theirs


def _rows(log: Log, late: str) -> str:
    """The rows of a log that came before the watermark was past them."""
    if late == "ACCEPT":
        return log.name
    limit = f"{TIME} + INTERVAL {LATE[late]} SECOND"
    return f"(SELECT * FROM {log.name} WHERE _watermark IS NULL OR {limit} >= _watermark)"


def _versions(log: Log, key: str, late: str) -> str:
    """The last version of each time."""
    order = ["_arrived_at DESC", *(f"{c} DESC NULLS FIRST" for c in log.kinds if c != TIME)]
    return (
        f"(SELECT * FROM {_rows(log, late)} WHERE {TIME} IS NOT NULL QUALIFY row_number()"
        f" OVER (PARTITION BY {key}, {TIME} ORDER BY {', '.join(order)}) = 1)"
    )
