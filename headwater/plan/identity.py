"""What a definition means, in parts that can be compared, and the fingerprint of it.

In: a bound view. Out: an :class:`Identity`. Two definitions with one fingerprint have the same
rows in the same columns: names of relations and of columns inside the query, the order of terms
that commute, brackets and comments are settled. It is our own text of the tree, not one that a
library prints, and ``tests/golden/fingerprints.json`` freezes it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property

from sqlglot import exp

from headwater.analyze.definitions import Catalog, Emit, LateRows, View
from headwater.analyze.time.recent import RECENT, Age

FORMAT = 2
"""Of fingerprints, markers and stored definitions. Format 1 hashed the printed definition."""

SELECT = "SELECT"
"""The part in which columns differ."""

CLAUSES = {
    "from_": "FROM",
    "joins": "FROM",
    "laterals": "FROM",
    "match": "FROM",
    "where": "WHERE",
    "group": "GROUP BY",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "distinct": "DISTINCT",
}
"""Argument of a SELECT's tree → the part of the definition that it belongs to."""

_COMMUTE = (exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Mul)


@dataclass(frozen=True)
class Identity:
    """What decides the rows of a view, and what its table looks like.

    Attributes:
        columns: visible column → what it is, in order.
        parts: every other part of the definition by its word in SQL.
    """

    columns: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def fingerprint(self) -> str:
        """The format, a colon and a hash."""
        said = json.dumps([list(self.columns.items()), sorted(self.parts.items())])
        return f"{FORMAT}:{hashlib.sha256(said.encode()).hexdigest()[:16]}"

    def differs(self, other: Identity) -> list[str]:
        """Return the parts that differ, in the order in which SQL has them."""
        names = dict.fromkeys([*self.parts, *other.parts])
        found = [name for name in names if self.parts.get(name) != other.parts.get(name)]
        same = list(self.columns.items()) == list(other.columns.items())
        return found if same else [SELECT, *found]

    def adds(self, other: Identity) -> tuple[str, ...]:
        """Return the columns that it has more than another one, if that is all that differs."""
        if self.parts != other.parts or not self.columns.keys() > other.columns.keys():
            return ()
        kept = [item for item in self.columns.items() if item[0] in other.columns]
        if kept != list(other.columns.items()):
            return ()
        return tuple(name for name in self.columns if name not in other.columns)


def identity_of(view: View, catalog: Catalog, emit: Emit, late: LateRows) -> Identity:
    """Return what a view means.

    Args:
        view: the bound view.
        catalog: what it is defined in.
        emit: as decided.
        late: as decided.
    """
    if view.changes:
        return _of_keyed_table(view, catalog)
    columns, parts = _of_query(view.query)
    parts["EMIT"] = emit.value
    if not late.accept or late.into:
        parts["LATE ROWS"] = repr((late.accept, late.allowed.total_seconds(), late.into))
    parts["PRIMARY KEY"] = ", ".join(view.primary_key)
    parts["PARTITIONED BY"] = ", ".join(_Text().of(item) for item in view.partitioned_by)
    parts["format"] = "delta" if view.is_delta else ""
    return Identity(columns, {name: text for name, text in parts.items() if text})


def _of_keyed_table(view: View, catalog: Catalog) -> Identity:
    """Its columns are compared one by one: they may follow their definition."""
    log = catalog.sources[view.changes]
    order = ", ".join(column.name for column in log.position)
    flags = ", ".join(word for word in ("truncates", "replaces") if getattr(log, word))
    parts = {"PRIMARY KEY": ", ".join(view.primary_key), "ORDER": order, "WITH": flags}
    return Identity({}, {name: text for name, text in parts.items() if text})


def _of_query(query: exp.Query) -> tuple[dict[str, str], dict[str, str]]:
    text = _Text()
    if not isinstance(query, exp.Select):
        return dict.fromkeys(query.named_selects, ""), {"query": text.of(query)}
    parts: dict[str, list[str]] = {}
    for key, word in CLAUSES.items():
        if said := text.arg(query, key):
            parts.setdefault(word, []).append(said)
    columns = {item.alias_or_name: text.of(item) for item in query.expressions}
    rest = {key for key, value in query.args.items() if value} - {*CLAUSES, "expressions"}
    for key in sorted(rest):
        parts[key] = [text.arg(query, key)]
    return columns, {word: " ".join(said) for word, said in parts.items()}


class _Text:
    """Writes trees; the relations of a query are numbered in the order in which they are met."""

    def __init__(self) -> None:
        self._names: dict[int, dict[str, tuple[str, dict[str, str]]]] = {}
        self._count = 0

    def arg(self, node: exp.Expr, key: str) -> str:
        value = node.args.get(key)
        if key in ("expressions", "all") and isinstance(node, exp.Group) and value:
            return self._list(sorted(map(self.of, value)))
        if key == "expressions" and isinstance(node, exp.In) and value:
            return self._list(sorted(map(self.of, value)))
        if isinstance(node, exp.Join) and key == "kind" and value == "INNER":
            return ""
        return self._value(value)

    def of(self, node: exp.Expr) -> str:
        if isinstance(node, exp.Paren) or _names_a_column(node):
            return self.of(node.this)
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Identifier | exp.Var):
            return str(node.this)
        if isinstance(node, exp.Literal):
            return repr(node.this) if node.is_string else str(node.this)
        if isinstance(node, exp.TableAlias):
            return self._alias(node)
        if isinstance(node, exp.And | exp.Or):
            terms = sorted({self.of(term) for term in _terms(node, type(node))})
            return f"{node.key}({', '.join(terms)})" if len(terms) > 1 else terms[0]
        if isinstance(node, exp.LT | exp.LTE):
            return f"{node.key}({self.of(node.this)}, {self.of(node.expression)})"
        if isinstance(node, exp.GT | exp.GTE):
            turned = "lt" if isinstance(node, exp.GT) else "lte"
            return f"{turned}({self.of(node.expression)}, {self.of(node.this)})"
        if isinstance(node, _COMMUTE):
            return f"{node.key}({', '.join(sorted(map(self.of, (node.this, node.expression))))})"
        # what names relations is written first
        keys = sorted(node.args, key=lambda key: (key not in ("with_", "from_", "joins"), key))
        said = [(key, self.arg(node, key)) for key in keys]
        if RECENT in node.meta:  # its condition is no part of the tree any more
            age: Age = node.meta[RECENT]
            said.append((RECENT, f"{age.column} {age.length}"))
        return f"{node.key}({', '.join(f'{key}={text}' for key, text in said if text)})"

    def _value(self, value: object) -> str:
        if isinstance(value, exp.Expr):
            return self.of(value)
        if isinstance(value, list | tuple):
            return self._list(map(self._value, value)) if value else ""
        if isinstance(value, Enum):
            return value.name
        if isinstance(value, Mapping):
            return self._list(f"{key}={self._value(each)}" for key, each in value.items())
        if isinstance(value, frozenset):
            return self._list(map(str, sorted(value)))
        if is_dataclass(value) and not isinstance(value, type):  # a clause with patterns
            said = ((each.name, getattr(value, each.name)) for each in fields(value) if each.repr)
            text = ", ".join(f"{name}={found}" for name, one in said if (found := self._value(one)))
            return f"{type(value).__name__}({text})"
        return "" if value is None or value is False else str(value)

    def _list(self, items: Iterable[str]) -> str:
        return f"[{', '.join(items)}]"

    def _column(self, column: exp.Column) -> str:
        name, select = column.name, column.parent_select
        while select is not None and column.table:
            known = self._relations(select).get(column.table)
            if known is not None:
                relation, columns = known
                return f"{relation}.{columns.get(name, name)}"
            select = select.parent_select
        return f"{column.table}.{name}" if column.table else name

    def _alias(self, alias: exp.TableAlias) -> str:
        select = alias.parent_select
        known = self._relations(select).get(alias.name) if select is not None else None
        return known[0] if known else alias.name

    def _relations(self, select: exp.Expr) -> dict[str, tuple[str, dict[str, str]]]:
        """What a SELECT names: alias → its number, and what stands for the columns inside it."""
        if id(select) not in self._names:
            found: dict[str, tuple[str, dict[str, str]]] = {}
            for alias in _aliases(select):
                self._count += alias.name not in found
                found.setdefault(alias.name, (f"r{self._count}", _inner_columns(alias)))
            self._names[id(select)] = found
        return self._names[id(select)]


def _terms(node: exp.Expr, kind: type[exp.Expr]) -> Iterator[exp.Expr]:
    """What AND, or OR, connects, through brackets."""
    inside = node.unnest()
    if isinstance(inside, kind):
        yield from _terms(inside.this, kind)
        yield from _terms(inside.expression, kind)
    else:
        yield inside


def _names_a_column(node: exp.Expr) -> bool:
    """Columns of subqueries stand for their positions, those of a view are named beside it."""
    return isinstance(node, exp.Alias) and isinstance(node.parent, exp.Select)


def _aliases(select: exp.Expr) -> Iterator[exp.TableAlias]:
    for key in ("from_", "joins", "laterals"):
        value = select.args.get(key)
        for part in value if isinstance(value, list) else [value] if value is not None else []:
            for alias in part.find_all(exp.TableAlias):
                if alias.parent_select is select:
                    yield alias


def _inner_columns(alias: exp.TableAlias) -> dict[str, str]:
    """The columns of a subquery by position; those of a table keep their names."""
    relation = alias.parent
    names = [column.name for column in alias.args.get("columns") or []]
    if not names and isinstance(relation, exp.Subquery):
        names = relation.this.named_selects
    return {name: f"c{number}" for number, name in enumerate(names)}
