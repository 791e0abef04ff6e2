"""Rule 2 for a keyed table: the newest change of each key, folded into the table.

In: the view over the log of a keyed table (:mod:`headwater.analyze.keyed`).
Out: an :class:`~headwater.plan.program.AggregateProgram` whose state is a row and its place.

The greater place wins, in whatever order changes arrive. A row remembers its place in hidden
columns; of a key that has no row, the deletions in the log do, so that an older change that arrives
late does not bring it back.
"""

from __future__ import annotations

from datetime import timedelta

from headwater.analyze.definitions import CHANGE_COLUMN, DELETED, UPSERTED, Catalog, View
from headwater.analyze.types import spark_type
from headwater.plan.program import AggregateProgram, StateColumn
from headwater.plan.render import print_sql, spark
from headwater.plan.shape import Shape


def newest_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> AggregateProgram:
    """Return how the newest rows of a log are kept.

    Args:
        view: the view of a keyed table.
        shape: its shape; its query is known.
        catalog: where its log is defined.
        allowed: no row of a log is late.
    """
    del shape, allowed
    places = {f"_state{field.name}": field for field in catalog.sources[view.changes].position}
    ours, theirs = (f"struct({', '.join(f'{side}.{p}' for p in places)})" for side in "st")
    later = f"{ours} > {theirs}"
    columns = [
        _newer(field.name, spark_type(field.type), later, is_key=field.name in view.primary_key)
        for field in view.fields
    ]
    columns += [_newer(name, spark_type(f.type), later) for name, f in places.items()]
    return AggregateProgram(
        _change_sql(view, {name: field.name for name, field in places.items()}),
        view.primary_key,
        tuple(columns),
        delete_when=f"s.{CHANGE_COLUMN} = '{DELETED}' AND {later}",
        insert_when=f"s.{CHANGE_COLUMN} = '{UPSERTED}'",
    )


def _newer(name: str, kind: str, later: str, *, is_key: bool = False) -> StateColumn:
    value = f"s.`{name}`"
    update = value if is_key else f"CASE WHEN {later} THEN {value} ELSE t.`{name}` END"
    return StateColumn(name, kind, value, update)


def _change_sql(view: View, places: dict[str, str]) -> str:
    """The newest change of each key, without those that a deletion known before outlasts."""
    keys = [f"`{key}`" for key in view.primary_key]
    latest_first = ", ".join(f"{place} DESC" for place in places.values())
    shown = ", ".join(f"`{field.name}`" for field in view.fields)
    named = ", ".join(f"{place} AS {name}" for name, place in places.items())
    same_key = " AND ".join(f"d.{key} = c.{key}" for key in keys)
    newer = " > ".join(
        f"struct({', '.join(f'{side}.{place}' for place in columns)})"
        for side, columns in (("d", places.values()), ("c", places))
    )
    query = spark(
        f"SELECT c.* FROM ("
        f"SELECT {shown}, {CHANGE_COLUMN}, {named},"
        f" row_number() OVER (PARTITION BY {', '.join(keys)} ORDER BY {latest_first}) AS _nth"
        f" FROM {view.changes}__change) AS c"
        f" LEFT ANTI JOIN ("
        f"SELECT d.* FROM {view.changes}__before AS d LEFT SEMI JOIN {view.changes}__change AS c"
        f" ON {same_key} WHERE d.{CHANGE_COLUMN} = '{DELETED}') AS d"
        f" ON {same_key} AND {newer} WHERE c._nth = 1"
    )
    return print_sql(query, "spark")
