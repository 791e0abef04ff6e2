"""The stream key: the output columns that identify a row of a view.

In: a bound view and the catalog. Out: names of output columns, ``()`` for a view of one row, None
where no key can be inferred (rows are only ever added, or the key is not selected).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from headwater.analyze.definitions import Catalog, View
from headwater.analyze.query_parts import (
    conjuncts,
    is_aggregate,
    is_distinct,
    joins,
    relations,
    union_branches,
)
from headwater.analyze.time.event_time import WINDOW_END, WINDOW_START
from headwater.dialect.syntax import WindowTable

Key = tuple[str, ...]
KeyOf = Callable[[View, Catalog], "Key | None"]
_BOUNDS = {WINDOW_START: WINDOW_END, WINDOW_END: WINDOW_START}


def stream_key(view: View, catalog: Catalog) -> Key | None:
    """Return the columns that identify a row of a view, in output order of inference.

    Args:
        view: a bound view; a declared PRIMARY KEY wins.
    """
    return view.primary_key or inferred_key(view.query, catalog)


def proven_key(view: View, catalog: Catalog) -> Key | None:
    """Return columns that no two rows of a bound view share, taking nobody's word for it.

    A PRIMARY KEY that a view declares counts only where its query says the same.
    """
    return view.primary_key if view.changes else inferred_key(view.query, catalog, proven_key)


def inferred_key(query: exp.Expr, catalog: Catalog, key_of: KeyOf = stream_key) -> Key | None:
    """Return the key of a bound query's result that follows from its shape, or None.

    Args:
        key_of: says what the key of a view is that the query reads.
    """
    branches = union_branches(query)
    if len(branches) > 1:
        return None
    select = branches[0]
    if is_aggregate(select):
        group = select.args.get("group")
        return _group_key(select, list(group.expressions) if group else [])
    if is_distinct(select):
        return tuple(item.alias_or_name for item in select.selects)
    return _first_of_each(select) or _passed_on(select, catalog, key_of)


def _first_of_each(select: exp.Select) -> Key | None:
    """Return the columns of which ``row_number() OVER (PARTITION BY …) = 1`` leaves one row."""
    for term in conjuncts(select.args["qualify"].this if select.args.get("qualify") else None):
        window = term.this if isinstance(term, exp.EQ) else None
        if (
            isinstance(window, exp.Window)
            and isinstance(window.this, exp.RowNumber)
            and term.expression == exp.Literal.number(1)
        ):
            names = _names(select)
            found = [names.get(part) for part in window.args.get("partition_by") or []]
            return None if None in found else tuple(name for name in found if name is not None)
    return None


def missing_keys(select: exp.Select) -> list[exp.Expr]:
    """Return the group keys of a SELECT that identify its rows but are not selected."""
    group = select.args.get("group")
    keys: Sequence[exp.Expr] = group.expressions if group else []
    names = _names(select)
    return [key for key in keys if key not in names and not _implied(select, key, keys, names)]


def _group_key(select: exp.Select, keys: Sequence[exp.Expr]) -> Key | None:
    if missing_keys(select):
        return None
    names = _names(select)
    named = [names.get(key) for key in keys if not _implied(select, key, keys, names)]
    return tuple(dict.fromkeys(name for name in named if name is not None))


def _names(select: exp.Select) -> dict[exp.Expr, str]:
    """Return the first name under which each expression is selected."""
    return {item.unalias(): item.alias_or_name for item in reversed(select.selects)}


def _implied(
    select: exp.Select, key: exp.Expr, keys: Sequence[exp.Expr], names: Mapping[exp.Expr, str]
) -> bool:
    """Return whether a window's bound is superfluous in the key: its other bound is selected."""
    if not isinstance(key, exp.Column) or key.name not in _BOUNDS:
        return False
    other = next(
        (
            item
            for item in keys
            if isinstance(item, exp.Column)
            and item.table == key.table
            and item.name == _BOUNDS[key.name]
        ),
        None,
    )
    if other is None or other not in names or not _is_window(select, key.table):
        return False
    return key.name == WINDOW_END or key not in names


def _is_window(select: exp.Select, alias: str) -> bool:
    return any(
        isinstance(item, exp.Table) and isinstance(item.this, WindowTable)
        for item in relations(select)
        if item.alias_or_name == alias
    )


def _passed_on(select: exp.Select, catalog: Catalog, key_of: KeyOf) -> Key | None:
    """Return the keys of all inputs together, if every one is selected."""
    found: list[str] = []
    items = relations(select)
    if any(isinstance(item, exp.Unnest) for item in items) or any(
        join.side for join in joins(select)
    ):
        return None
    for item in items:
        key = _relation_key(item, catalog, key_of)
        if key is None:
            return None
        for name in key:
            output = next(
                (
                    chosen.alias_or_name
                    for chosen in select.selects
                    if isinstance(column := chosen.unalias(), exp.Column)
                    and (column.table, column.name) == (item.alias_or_name, name)
                ),
                None,
            )
            if output is None:
                return None
            found.append(output)
    return tuple(dict.fromkeys(found))


def _relation_key(relation: exp.Expr, catalog: Catalog, key_of: KeyOf) -> Key | None:
    if isinstance(relation, exp.Subquery):
        return inferred_key(relation.this, catalog, key_of)
    if not isinstance(relation, exp.Table) or isinstance(relation.this, WindowTable):
        return None
    if relation.name in catalog.sources:
        return None  # a log: many rows may have one key
    return key_of(catalog.views[relation.name], catalog)
