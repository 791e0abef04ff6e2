"""Newest: the newest change of each key, folded into a keyed table.

In: the view over the log of a keyed table (:mod:`headwater.analyze.ddl.keyed_tables`).
Out: an :class:`~headwater.plan.program.FoldProgram` whose state is a row and its place.

The greater place wins, in whatever order changes arrive. A row remembers its place in hidden
columns, and of each column that changes may leave out the place of the change that its value comes
from: a late change can say the value of a column whose row was changed after it. A deletion says
that there is no value. Of a key that has no row, the deletions in the log do, so that an older
change that arrives late does not bring it back. After a TRUNCATE, and after the end of a snapshot
that replaces, the table is computed from its log; changes that stand before them (and are not of
the snapshot) say nothing any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from headwater.analyze.definitions import (
    CHANGE_COLUMN,
    DELETED,
    SNAPSHOT_COLUMN,
    SNAPSHOT_END_COLUMN,
    TRUNCATED,
    UNCHANGED_COLUMN,
    UPSERTED,
    Catalog,
    Source,
    View,
)
from headwater.analyze.typing.types import spark_type
from headwater.plan.program import READS_STATES, FoldProgram, StateColumn
from headwater.plan.query_shape import Shape
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.sql.render import print_sql, spark

_TRUNCATES = f"{CHANGE_COLUMN} = '{TRUNCATED}'"
_ENDS_SNAPSHOT = f"{SNAPSHOT_END_COLUMN} IS NOT NULL"


def newest_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FoldProgram:
    """Return how the newest rows of a log are kept.

    Args:
        allowed: no row of a log is late.
    """
    del shape, allowed
    log = catalog.sources[view.changes]
    places = {f"_state{field.name}": field for field in log.position}
    later = _later(places)
    columns = [
        _newer(field.name, spark_type(field.type), later, is_key=field.name in view.primary_key)
        for field in view.fields
        if field.name not in log.left_out
    ]
    columns += [_newer(name, spark_type(f.type), later) for name, f in places.items()]
    for field in view.fields:
        if field.name in log.left_out:
            own = {said_at(field.name, place.name): place for place in places.values()}
            columns.append(_newer(field.name, spark_type(field.type), _later(own)))
            columns += [_newer(name, spark_type(f.type), _later(own)) for name, f in own.items()]
    shown = [field.name for field in view.fields]
    columns.sort(key=lambda c: shown.index(c.name) if c.name in shown else len(shown))
    return FoldProgram(
        _change_sql(view, log),
        view.primary_key,
        tuple(columns),
        delete_when=f"s.{CHANGE_COLUMN} = '{DELETED}' AND {later}",
        insert_when=f"s.{CHANGE_COLUMN} = '{UPSERTED}'",
        restart_when=" OR ".join(_ends(log)),
        reads=READS_STATES,
    )


def said_at(column: str, place: str) -> str:
    """Return the hidden column with the place of the change that a value comes from.

    Args:
        column: a column that changes may leave out.
        place: one of the columns of a place.
    """
    return f"_state{place}_{column}"


def _later(places: Iterable[str]) -> str:
    ours, theirs = (f"struct({', '.join(f'{side}.`{p}`' for p in places)})" for side in "st")
    return f"{ours} > {theirs}"


def _newer(name: str, kind: str, later: str, *, is_key: bool = False) -> StateColumn:
    value = f"s.`{name}`"
    update = value if is_key else f"CASE WHEN {later} THEN {value} ELSE t.`{name}` END"
    return StateColumn(name, kind, value, update)


def _ends(log: Source) -> Iterator[str]:
    """Yield the conditions of changes after which the table is computed from its log."""
    if log.truncates:
        yield _TRUNCATES
    if log.replaces:
        yield _ENDS_SNAPSHOT


def _valid(log: Source, place: Sequence[str]) -> str:
    """The changes that no TRUNCATE or snapshot, known before or among them, has ended."""
    conditions, at = [], f"struct({', '.join(place)})"
    taken = [CHANGE_COLUMN, *place, *([SNAPSHOT_END_COLUMN] if log.replaces else [])]
    own = f"struct({', '.join(f'c.{each}' for each in place)})"
    for end in _ends(log):
        known = " UNION ALL ".join(
            f"SELECT {', '.join(taken)} FROM {log.name}__{part} WHERE {end}"
            for part in ("before", "change")
        )
        stands = f"coalesce({own} > (SELECT max({at}) FROM ({known}) AS t), true)"
        if end == _ENDS_SNAPSHOT:
            newest = f"SELECT max_by({SNAPSHOT_END_COLUMN}, {at}) FROM ({known}) AS t"
            stands = f"({stands} OR c.{SNAPSHOT_COLUMN} = ({newest}))"
        conditions.append(stands)
    if not conditions:
        return f"{log.name}__change"
    return f"(SELECT c.* FROM {log.name}__change AS c WHERE {' AND '.join(conditions)})"


def _change_sql(view: View, log: Source) -> str:
    """Return the newest change of each key, without changes that a known deletion outlasts."""
    # A column that changes may leave out: the newest value among them, and the place it comes from.
    keys = [f"`{key}`" for key in view.primary_key]
    partition = f"PARTITION BY {', '.join(keys)}"
    place = [field.name for field in log.position]
    latest_first = ", ".join(f"{column} DESC" for column in place)
    taken = [f"`{field.name}`" for field in view.fields if field.name not in log.left_out]
    taken += [CHANGE_COLUMN, *(f"{column} AS _state{column}" for column in place)]
    taken.append(f"row_number() OVER ({partition} ORDER BY {latest_first}) AS _nth")
    shown = [f"`{field.name}`" for field in view.fields if field.name not in log.left_out]
    shown += [CHANGE_COLUMN, *(f"_state{column}" for column in place)]
    for column in log.left_out:
        said = f"struct({', '.join(place)}, `{column}` AS value)"
        says = f"instr(concat(',', {UNCHANGED_COLUMN}, ','), ',{column},') = 0"
        newest = f"max(CASE WHEN {says} THEN {said} END) OVER ({partition})"
        taken.append(f"{newest} AS `_said_{column}`")
        shown.append(f"`_said_{column}`.value AS `{column}`")
        shown += [f"`_said_{column}`.{p} AS `{said_at(column, p)}`" for p in place]
    same_key = " AND ".join(f"d.{key} = c.{key}" for key in keys)
    newer = " > ".join(f"struct({', '.join(f'{side}.{p}' for p in place)})" for side in "dc")
    query = spark(
        f"SELECT {', '.join(shown)} FROM ("
        f"SELECT {', '.join(taken)} FROM {_valid(log, place)} AS c"
        f" LEFT ANTI JOIN ("
        f"SELECT d.* FROM {view.changes}__before AS d LEFT SEMI JOIN {view.changes}__change AS c"
        f" ON {same_key} WHERE d.{CHANGE_COLUMN} = '{DELETED}') AS d"
        f" ON {same_key} AND {newer}) AS c WHERE c._nth = 1"
    )
    return print_sql(query, "spark")


def _applies(facts: Facts) -> str | None:
    """Keyed tables: the change that happened last is the row."""
    if facts.view.changes:
        return "the later of two changes of a key wins, in any order of arrival"
    return None


RULE = Rule("newest", Engine.INCREMENTAL, _applies, newest_program)
