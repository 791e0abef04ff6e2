"""UNNEST … WITH ORDINALITY and LEFT JOIN UNNEST → UNNEST of one array more, and of one element.

In: an UNNEST whose arguments are typed. Out: one that gives the same rows as CROSS JOIN::

    CROSS JOIN UNNEST(a) WITH ORDINALITY AS u(x, n)    UNNEST(a, _ordinals(a)) AS u(x, n)
    LEFT JOIN UNNEST(a) AS u(x) ON true    UNNEST(CASE WHEN cardinality(a) > 0 THEN a
                                                  ELSE ARRAY[NULL] END) AS u(x)
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.compositions import composed
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of
from headwater.dialect.vocabulary import told_apart, unnamed_column

_ORDINALITY = "ordinality"


def unnested_columns(
    node: exp.Unnest, alias: str, before: int, report: Diagnostics
) -> dict[str, exp.DataType]:
    """Return the columns that an UNNEST gives by name; empty after an error.

    Args:
        node: its arguments are typed; changed in place.
        alias: its name, which is that of its only column if that has none.
        before: number of the columns in FROM before it: ``*`` of Trino names ``_col2`` by place.
        report: where errors go.
    """
    kinds = [kind for item in node.expressions for kind in _elements(item, report)]
    if any(map(t.is_unknown, kinds)):
        return {}  # reported already
    names = list(node.alias_column_names) or _own_names(node, alias, before)
    if offset := node.args.get("offset"):
        named = node.alias_column_names and isinstance(offset, exp.Identifier)
        names.append(offset.name if named else _ORDINALITY)
        kinds.append(t.BIGINT)
    maps = [item for item in node.expressions if type_of(item).this is t.Type.MAP]
    if maps and (len(node.expressions) > 1 or offset):
        hint = "unnest it on its own: CROSS JOIN UNNEST(m) AS e(k, v)"
        message = "the entries of a map have no order in which to stand beside others"
        report.add("NON_DETERMINISTIC", message, maps[0], hint)
        return {}
    if len(names) != len(kinds):
        message = f"{len(names)} names for {len(kinds)} columns"
        report.add("WRONG_ARGUMENTS", message, node, "give each column of UNNEST a name")
        return {}
    given = node.args["alias"].columns if node.args.get("alias") else []
    written = [*given, *map(exp.to_identifier, names[len(given) :])]
    names = told_apart(names)
    columns = [
        own if own.name == name else exp.to_identifier(name)
        for own, name in zip(written, names, strict=True)
    ]
    node.set("alias", exp.TableAlias(this=exp.to_identifier(alias), columns=columns))
    return dict(zip(names, kinds, strict=True))


def make_plain(node: exp.Unnest, join: exp.Join | None) -> None:
    """Write WITH ORDINALITY as one array more, and a LEFT JOIN as one with a row at least.

    Args:
        node: as :func:`unnested_columns` left it; changed in place.
        join: what it stands in, changed in place; None if it begins FROM.
    """
    given = [item.copy() for item in node.expressions]
    if any(type_of(item).this not in (t.Type.ARRAY, t.Type.MAP) for item in given):
        return
    found = given
    if join is not None and join.side == "LEFT":
        found = _one_at_least(given)
        for key, value in (("side", None), ("kind", "CROSS"), ("on", None)):
            join.set(key, value)
    if node.args.get("offset"):
        found = [*found, composed(_ordinals(len(given)), given)]
        node.set("offset", None)
    node.set("expressions", found)


def _one_at_least(given: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Arrays with a NULL in the first of them if all are empty or NULL."""
    if type_of(given[0]).this is t.Type.MAP:
        arrays = [composed(f"map_{part}(_1)", [given[0]]) for part in ("keys", "values")]
        return _one_at_least(arrays)
    full = " OR ".join(f"cardinality(_{at + 1}) > 0" for at in range(len(given)))
    first = composed(f"CASE WHEN {full} THEN _1 ELSE ARRAY[NULL] END", [*given])
    return [first, *given[1:]]


def _ordinals(count: int) -> str:
    """The places of the elements of the longest of so many arrays."""
    text = "_ordinals(_1)"
    for at in range(2, count + 1):
        others = [f"coalesce(cardinality(_{n}), 0)" for n in range(1, at)]
        longest = others[0] if len(others) == 1 else f"greatest({', '.join(others)})"
        text = f"CASE WHEN cardinality(_{at}) > {longest} THEN _ordinals(_{at}) ELSE {text} END"
    return text


def _own_names(node: exp.Unnest, alias: str, before: int) -> list[str]:
    """The names of the columns of an UNNEST that gives none: fields of rows have theirs."""
    kinds = [type_of(item) for item in node.expressions]
    if node.alias and [kind.this for kind in kinds] == [t.Type.ARRAY] and not _is_row(kinds[0]):
        return [alias]
    names: list[str] = []
    for kind in kinds:
        if kind.this is t.Type.ARRAY and _is_row(kind):
            names += [field.name for field in t.elements(kind)[0].expressions]
        else:
            names += [
                unnamed_column(before + len(names) + at) for at in range(len(t.elements(kind)))
            ]
    return names


def _is_row(array: exp.DataType) -> bool:
    return t.elements(array)[0].this is t.Type.STRUCT


def _elements(item: exp.Expr, report: Diagnostics) -> list[exp.DataType]:
    kind = type_of(item)
    if kind.this is t.Type.ARRAY and _is_row(kind):
        return list(t.elements(t.elements(kind)[0]))
    if kind.this in (t.Type.ARRAY, t.Type.MAP):
        return list(t.elements(kind))
    if not t.is_unknown(kind):
        message = f"UNNEST needs an array or a map, not {t.sql_type(kind)}"
        report.add("TYPE_CLASH", message, item, "split text first: split(x, ',')")
    return [t.UNKNOWN]
