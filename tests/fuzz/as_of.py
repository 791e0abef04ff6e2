"""Random as-of joins: the newest version up to the time of a row.

In: a random generator and two logs. Out: a view in one of the spellings, and DuckDB's own
``ASOF JOIN`` at any commit: over the rows in time, of it what is final. Of versions of one time the
one that arrived last is left before; of one arrival the greatest; of the changes of a keyed table
the one that stands last. A deletion is a version whose columns are NULL; an inner join leaves out
the rows that meet it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.fuzz.expressions import condition
from tests.fuzz.streams import LATE, TIME, KeyedTable, Log, StreamingQuery, late_clause


def as_of_query(rnd: Random, logs: Sequence[Log], *, closes: bool = True) -> StreamingQuery:
    """Return a view with one as-of join or two, of a log with the other one or with itself.

    Args:
        rnd: the generator.
        logs: two of them; the second one may be a keyed table, of which the versions are sought.
        closes: whether its rows are appended once they are final; otherwise they are corrected.
    """
    one, two = rnd.sample(logs, 2) if rnd.random() < 0.8 else [rnd.choice(logs)] * 2
    late = rnd.choice([*LATE]) if closes else "ACCEPT"
    key = rnd.choice(("k", "k", "id"))
    key = "id" if "float" in (one.kinds[key], two.kinds[key]) else key
    if isinstance(logs[1], KeyedTable):
        one, two, key = *logs, logs[1].key
    joins = [_join(rnd, ("t", "u"), key, two, _versions(two, key, late))]
    if rnd.random() < 0.3:
        # a time that an outer join may leave out does not say when a row is final
        asked = "t" if closes and "LEFT" in joins[0][1] else rnd.choice("tu")
        other, by = rnd.choice(((one, "id"), (two, key)))
        joins.append(_join(rnd, (asked, "v"), by, other, _versions(other, by, late)))
    aliases = "tuv"[: len(joins) + 1]
    shown = [(a, name) for a in aliases for name in ("id", TIME)]
    shown += [("u", name) for name in getattr(two, "texts", ()) if name != "id"]
    items = [f"{alias}.{name} AS {alias}_{name}" for alias, name in shown]
    names = tuple(f"{alias}_{name}" for alias, name in shown)
    where = "true"
    if rnd.random() < 0.4:
        alias, log = rnd.choice((("t", one), ("u", two)))
        where = condition(rnd, log.columns(alias))
    ours, theirs = (
        f"SELECT {', '.join(items)} FROM {start} t {' '.join(join[side] for join in joins)}"
        f" WHERE {where}"
        for side, start in enumerate((one.name, f"(SELECT * FROM {_rows(one, late)})"))
    )
    theirs += "".join(join[2] for join in joins)
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
) -> tuple[str, str, str]:
    """A join as we write it, as DuckDB does, and what it adds to WHERE there.

    Args:
        aliases: of the row and of the version.
        versions: of each time the last one, as DuckDB writes it.
    """
    left, alias = aliases
    equal, side = f"{left}.{key} = {alias}.{key}", rnd.choice(("", "LEFT "))
    form = rnd.choice(("system time", "match", "on"))
    strict = form != "system time" and rnd.random() < 0.4
    compared = f"{left}.{TIME} {'>' if strict else '>='} {alias}.{TIME}"
    theirs, held = f"ASOF {side}JOIN {versions} {alias} ON {equal} AND {compared}", ""
    if isinstance(log, KeyedTable):
        theirs = theirs.replace(f"{alias}.{key}", f"{alias}.__key")
        theirs = theirs.replace(f"{alias}.{TIME}", f"{alias}.__at")
        held = "" if side else f" AND {alias}.__held"
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
    return ours, theirs, held


def _rows(log: Log, late: str) -> str:
    """The rows of a log that came before the watermark was past them."""
    if late == "ACCEPT":
        return log.table
    limit = f"{TIME} + INTERVAL {LATE[late]} SECOND"
    return f"(SELECT * FROM {log.table} WHERE _watermark IS NULL OR {limit} >= _watermark)"


def _versions(log: Log, key: str, late: str) -> str:
    """The last version of each time."""
    if isinstance(log, KeyedTable):
        return _changes(log, late)
    order = ["_arrived_at DESC", *(f"{c} DESC NULLS FIRST" for c in log.kinds if c != TIME)]
    return (
        f"(SELECT * FROM {_rows(log, late)} WHERE {TIME} IS NOT NULL QUALIFY row_number()"
        f" OVER (PARTITION BY {key}, {TIME} ORDER BY {', '.join(order)}) = 1)"
    )


def _changes(log: KeyedTable, late: str) -> str:
    """The last change of each time: a row, or NULLs from then on."""
    place, rows = f"{TIME}, {{0}}._path, {{0}}._row", _rows(log, late)
    last = (
        f"SELECT * FROM {rows} QUALIFY row_number()"
        f" OVER (PARTITION BY {log.key}, {TIME} ORDER BY _path DESC, _row DESC) = 1"
    )
    values = []
    for column in log.kinds:
        value = f"r.{column}"
        if column in log.texts:
            before = f"row(s.{place.format('s')}) <= row(r.{place.format('r')})"
            said = f"NOT list_contains(string_split(s._unchanged, ','), '{column}')"
            value = (
                f"(SELECT arg_max_null(s.{column}, row(s.{place.format('s')})) FROM {rows} s"
                f" WHERE s.{log.key} = r.{log.key} AND {before} AND {said})"
            )
        values.append(f"CASE WHEN r._change_type = 'UPSERT' THEN {value} END AS {column}")
    shown = f"r.{log.key} AS __key, r.{TIME} AS __at, r._change_type = 'UPSERT' AS __held"
    return f"(SELECT {shown}, {', '.join(values)} FROM ({last}) r)"
