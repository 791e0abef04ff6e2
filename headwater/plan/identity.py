"""What a definition means, in parts that can be compared, and the fingerprint of it.

In: a bound view. Out: an :class:`Identity`. Two definitions with one fingerprint have the same
rows in the same columns: names of relations and of columns inside the query, the order of terms
that commute, brackets and comments are settled. It is our own text of the tree, not one that a
library prints, and ``tests/golden/fingerprints.json`` freezes it.

The same traversal writes the canonical query (:func:`in_order`), from which programs are made. So
definitions with one fingerprint also name their units and their hidden columns alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import cast

from sqlglot import exp

from headwater.algebra.ages import Age
from headwater.analyze.definitions import Catalog, Emit, LateRows, View
from headwater.analyze.time.dated import YOUNG
from headwater.analyze.time.recent import RECENT
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import type_of

FORMAT = 3
"""Of fingerprints, markers and stored definitions.

Format 1 hashed the printed definition. Format 2 forgave every order of terms, and stored rows in
the order that the author wrote (ADR 0112).
"""

FORMER = 2
"""The format whose fingerprints are still compared: its lakes have no other."""

SELECT, FROM = "SELECT", "FROM"
"""The parts in which columns and what they are read from differ."""

WRITTEN = "order of terms"
"""The part that holds the order as written, for state that Spark stores in this order."""

CLAUSES = {
    "from_": FROM,
    "joins": FROM,
    "laterals": FROM,
    "match": FROM,
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
_TURNED: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
}
_NEVER_FAILS = (
    *(exp.Column, exp.Identifier, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Not, exp.Is),
    *(exp.And, exp.Or, exp.In, exp.Between, exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.Max, exp.Min, exp.Count, exp.Star, exp.Filter, exp.Where),
    *(exp.Window, exp.WindowSpec, exp.Order, exp.Ordered),
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist),
)
"""Of these alone, no operand or term can fail before another one decides."""
_STAYS = (exp.Where, exp.Having)
"""Clauses by which nothing is stored: they keep the order in which they are written."""


class Order(Enum):
    """The order in which terms that commute are taken."""

    SETTLED = "the fingerprint's"
    WRITTEN = "the query's"
    REVERSED = "the opposite of the fingerprint's"


@dataclass(frozen=True)
class Identity:
    """What decides the rows of a view, and what its table looks like.

    Attributes:
        columns: visible column → what it is, in order.
        parts: every other part of the definition by its word in SQL.
        format: of the fingerprint.
    """

    columns: Mapping[str, str]
    parts: Mapping[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @cached_property
    def fingerprint(self) -> str:
        """The format, a colon and a hash."""
        said = json.dumps([list(self.columns.items()), sorted(self.parts.items())])
        return f"{self.format}:{hashlib.sha256(said.encode()).hexdigest()[:16]}"

    def differs(self, other: Identity) -> list[str]:
        """Return the parts that differ, in the order in which SQL has them."""
        names = dict.fromkeys([*self.parts, *other.parts])
        found = [name for name in names if self.parts.get(name) != other.parts.get(name)]
        same = list(self.columns.items()) == list(other.columns.items())
        return found if same else [SELECT, *found]

    def renames(self, other: Identity) -> dict[str, str]:
        """Return the columns that another one has under another name: the name here, that there.

        Where FROM differs, there are none: the same text may name a column of another relation.
        """
        if self.parts.get(FROM) != other.parts.get(FROM):
            return {}
        gone = {text: name for name, text in other.columns.items() if name not in self.columns}
        return {
            name: gone.pop(text)
            for name, text in self.columns.items()
            if text and name not in other.columns and text in gone
        }

    def adds(self, other: Identity) -> tuple[str, ...]:
        """Return the columns that it has more than another one, if that is all that differs."""
        if self.parts != other.parts or not self.columns.keys() > other.columns.keys():
            return ()
        kept = [item for item in self.columns.items() if item[0] in other.columns]
        if kept != list(other.columns.items()):
            return ()
        return tuple(name for name in self.columns if name not in other.columns)


def identity_of(
    view: View,
    catalog: Catalog,
    emit: Emit,
    late: LateRows,
    stateful: bool,
    form: int,
) -> Identity:
    """Return what a view means.

    Args:
        view: the bound view.
        catalog: what it is defined in.
        emit: as decided.
        late: as decided.
        stateful: whether Spark stores its state, in the order in which its terms are written.
        form: the format of the fingerprint.
    """
    if view.changes:
        return _of_keyed_table(view, catalog, form)
    columns, parts = _of_query(view.query, _Text(form))
    if stateful and form != FORMER:
        written = _of_query(view.query, _Text(form, order=Order.WRITTEN))
        if written != (columns, parts):
            parts[WRITTEN] = json.dumps(written, sort_keys=True)
    parts["EMIT"] = emit.value
    if not late.accept or late.into:
        parts["LATE ROWS"] = repr((late.accept, late.allowed.total_seconds(), late.into))
    parts["PRIMARY KEY"] = ", ".join(view.primary_key)
    parts["PARTITIONED BY"] = ", ".join(_Text().of(item) for item in view.partitioned_by)
    parts["format"] = "delta" if view.is_delta else ""
    return Identity(columns, {name: text for name, text in parts.items() if text}, form)


def in_order(query: exp.Query, order: Order = Order.SETTLED) -> exp.Query:
    """Return a bound query with its values in an order, by default the one of the fingerprint.

    Group keys, operands that commute and lists of IN stand in the order of the fingerprint's text,
    constants last. WHERE and HAVING stay as written: no stored name depends on them.

    Args:
        query: a bound query; not changed.
        order: the order.
    """
    if order is Order.WRITTEN:
        return query
    root = exp.Paren(this=query.copy())
    _of_query(root.this, _Text(moves=order))
    return cast(exp.Query, root.this.pop())


def _of_keyed_table(view: View, catalog: Catalog, form: int) -> Identity:
    """Its columns are compared one by one: they may follow their definition."""
    log = catalog.sources[view.changes]
    order = ", ".join(column.name for column in log.position)
    flags = ", ".join(word for word in ("truncates", "replaces") if getattr(log, word))
    parts = {"PRIMARY KEY": ", ".join(view.primary_key), "ORDER": order, "WITH": flags}
    return Identity({}, {name: text for name, text in parts.items() if text}, form)


def _of_query(query: exp.Query, text: _Text) -> tuple[dict[str, str], dict[str, str]]:
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
    """Writes trees; the relations of a query are numbered in the order in which they are met.

    Args:
        form: the format of the fingerprint.
        order: the order of terms in the text.
        moves: the order that terms get in the query; they stay as they are by default.
    """

    def __init__(
        self, form: int = FORMAT, *, order: Order = Order.SETTLED, moves: Order = Order.WRITTEN
    ) -> None:
        self._names: dict[int, dict[str, tuple[str, dict[str, str]]]] = {}
        self._count = 0
        self._form = form
        self._settles = order is Order.SETTLED
        self._moves = moves is not Order.WRITTEN
        self._backwards = moves is Order.REVERSED
        self._filters = False

    def arg(self, node: exp.Expr, key: str) -> str:
        value = node.args.get(key)
        group = key in ("expressions", "all") and isinstance(node, exp.Group)
        if value and (group or (key == "expressions" and isinstance(node, exp.In))):
            said = [self.of(each) for each in value]
            if self._moves:
                pairs = list(zip(said, node.args[key], strict=True))
                pairs.sort(key=lambda pair: pair[0], reverse=self._backwards)
                node.set(key, [each for _, each in pairs])
            return self._list(self._sorted(said))
        if isinstance(node, exp.Join) and key == "kind" and value == "INNER":
            return ""
        before = self._moves, self._filters
        if isinstance(node, _STAYS) and isinstance(node.parent, exp.Select):
            self._moves, self._filters = False, True
        text = self._value(value)
        self._moves, self._filters = before
        return text

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
            return self._connected(node)
        if isinstance(node, (*_TURNED, *_COMMUTE)):
            return self._compared(node)
        # what names relations is written first
        keys = sorted(node.args, key=lambda key: (key not in ("with_", "from_", "joins"), key))
        said = [(key, self.arg(node, key)) for key in keys]
        age: Age | None = node.meta.get(RECENT, node.meta.get(YOUNG))
        if age is not None:  # its condition is no part of the tree any more
            said.append((RECENT, f"{age.column} {age.length}"))
        return f"{node.key}({', '.join(f'{key}={text}' for key, text in said if text)})"

    def _connected(self, node: exp.Connector) -> str:
        """AND or OR; the order stays if it decides which term fails first."""
        terms = list(_terms(node, type(node)))
        forgives = self._form == FORMER or _can_change_places(node, terms)
        texts = [self.of(term) for term in terms]
        said = list(dict.fromkeys(texts))
        if self._moves:
            moved = sorted(said, reverse=self._backwards) if forgives else said
            known = dict(zip(texts, _terms(node, type(node)), strict=True))
            _connect(node, [known[text] for text in moved])
        said = self._sorted(said) if forgives else said
        return f"{node.key}({', '.join(said)})" if len(said) > 1 else said[0]

    def _compared(self, node: exp.Expr) -> str:
        """Two operands that can change places; an operator with a direction turns with them."""
        left, right = self.of(node.this), self.of(node.expression)
        # NULL on the left decides before what could fail on the right
        forgives = self._form == FORMER or self._filters
        if not forgives and not _never_fail((node.this, node.expression)):
            return f"{node.key}({left}, {right})"
        if self._moves:
            places = [_place(node, node.this, left), _place(node, node.expression, right)]
            if places != sorted(places, reverse=self._backwards):
                _turn(node)
        if self._settles and isinstance(node, exp.GT | exp.GTE):
            return f"{_TURNED[type(node)].key}({right}, {left})"
        commutes = isinstance(node, _COMMUTE)
        said = self._sorted((left, right)) if commutes else [left, right]
        return f"{node.key}({', '.join(said)})"

    def _sorted(self, texts: Iterable[str]) -> list[str]:
        return sorted(texts) if self._settles else list(texts)

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


def _can_change_places(node: exp.Connector, terms: Sequence[exp.Expr]) -> bool:
    """Whether another order of terms shows and quarantines the rows that this one does."""
    # a row on which a term of WHERE fails is shown as little as one that WHERE leaves out
    if isinstance(node, exp.And) and isinstance(_around(node), exp.Where):
        return True
    return _never_fail(terms)


def _never_fail(terms: Iterable[exp.Expr]) -> bool:
    return all(isinstance(each, _NEVER_FAILS) for term in terms for each in term.walk())


def _around(node: exp.Expr) -> exp.Expr | None:
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    return around


def _connect(node: exp.Connector, terms: Sequence[exp.Expr]) -> None:
    """Give AND or OR other terms, in place."""
    *others, last = [exp.paren(each) if isinstance(each, exp.Connector) else each for each in terms]
    if not others:
        node.replace(last)
        return
    first, *others = others
    for term in others:
        first = type(node)(this=first, expression=term)
        first.type = node.type
    node.set("this", first)
    node.set("expression", last)


def _place(node: exp.Expr, side: exp.Expr, text: str) -> tuple[bool, bool, str]:
    """By what the operands of an operator are ordered: constants stand behind, intervals too."""
    length = t.family(type_of(side)) == "interval"
    return length is not isinstance(node, exp.Mul), side.find(exp.Column) is None, text


def _turn(node: exp.Expr) -> None:
    """Let the operands of an operator change places."""
    left, right = node.this, node.expression
    if turned := _TURNED.get(cast(type[exp.Binary], type(node))):
        other = turned(this=right, expression=left)
        other.type = node.type
        other.meta.update(node.meta)
        node.replace(other)
    else:
        node.set("this", right)
        node.set("expression", left)


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
