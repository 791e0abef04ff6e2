"""A tree as text: a line for each node, what it reads below it. Goldens and ``explain`` show it.

A column that is given a value stands before ``:=``. A subtree that is read twice has a number and
stands where it is read first::

    Project customer, share := revenue / total
    └─ Join left
       ├─ #1 Aggregate by customer: revenue := SUM(price)
       │  └─ Scan orders: customer, price
       └─ Aggregate: total := SUM(revenue)
          └─ see #1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from headwater.algebra.nodes import (
    Aggregate,
    AsOf,
    Column,
    Computed,
    Elements,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    Match,
    Node,
    Project,
    Query,
    Scan,
    Self,
    Session,
    SetOperation,
    TimeWindows,
    Top,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.algebra.scalars import ties_left_out
from headwater.dialect.parser import Headwater
from headwater.errors.words import duration


def text_of(query: Query, relations: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the text of a tree; the first line has the names that people see.

    Args:
        query: the tree.
        relations: by name, what is to be said of a relation.
    """
    labels = (_renamed(label, name) for label, name in query.labels)
    lines = _Text(query.root, relations).lines(query.root)
    return "\n".join([f"show {', '.join(labels)}", *lines])


class _Text:
    def __init__(self, root: Node, relations: Mapping[str, str]) -> None:
        self._relations = relations
        read = Counter(each for node in from_bottom(root) for each in node.inputs)
        self._twice = [each for each, times in read.items() if times > 1 and each.inputs]
        self._shown: dict[Node, int] = {}

    def lines(self, node: Node) -> Iterator[str]:
        if node in self._shown:
            yield f"see #{self._shown[node]}"
            return
        number = ""
        if node in self._twice:
            self._shown[node] = len(self._shown) + 1
            number = f"#{self._shown[node]} "
        yield number + self._of(node)
        for left, each in reversed([*enumerate(reversed(node.inputs))]):
            first, rest = ("├─ ", "│  ") if left else ("└─ ", "   ")
            for line in self.lines(each):
                yield first + line
                first = rest

    def _of(self, node: Node) -> str:
        if isinstance(node, Scan) and (said := self._relations.get(node.relation)):
            return _words(node).replace(":", f" ({said}):", 1)
        return _words(node)


def _words(node: Node) -> str:
    """What a node does, as one line."""
    match node:
        case Scan(relation, reads, state, ages):
            clauses = {each.flag: each.clause for each in ages.dated}
            items = (
                f"{each.name} := {clauses[own]}" if own in clauses else _renamed(each.name, own)
                for each, own in reads
            )
            within = f" where {ages.within.clause}" if ages.within else ""
            return f"Scan {relation}{state.value.replace('__', ' ')}{within}: {', '.join(items)}"
        case Values(given, rows):
            return f"Values {_names(given)}: {', '.join(f'({_listed(row)})' for row in rows)}"
        case Project(_, outputs):
            return f"Project {_computed(outputs)}"
        case Filter(_, predicate):
            return f"Filter {_sql(predicate)}"
        case FlatMap(_, Elements(arrays), given, outer):
            kind = "FlatMap outer" if outer else "FlatMap"
            return f"{kind} {_names(given)} := UNNEST({_listed(arrays)})"
        case FlatMap(_, TimeWindows(call), given):
            return f"FlatMap {_names(given)} := {_sql(call).replace('(NULL, ', '(', 1)}"
        case Union(_, given):
            return f"Union {_names(given)}"
        case Join(_, _, kind, equal, residual, mark):
            signs = (" = ", " IS NOT DISTINCT FROM ")
            terms = [
                f"{_sql(each.left)}{signs[each.null_safe]}{_sql(each.right)}" for each in equal
            ]
            terms += [_sql(residual)] if residual is not None else []
            marked = f", {mark.name} := whether" if mark else ""
            return f"Join {kind}{marked}{': ' if terms else ''}{' AND '.join(terms)}"
        case AsOf(_, _, equal, at, _, strict, _, outer):
            by = ", ".join(f"{_sql(each.left)} = {_sql(each.right)}" for each in equal)
            newest = f"newest {node.time} {'before' if strict else 'up to'} {_sql(at)}"
            return f"AsOf{' left' if outer else ''}: {by}, {newest}"
        case Session(_, keys, time, gap, given):
            by = f" by {', '.join(keys)}" if keys else ""
            return f"Session{by}, gap {_sql(gap)} of {time}: {_names(given)}"
        case Aggregate(_, keys, measures):
            by = f" by {', '.join(keys)}" if keys else ""
            return f"Aggregate{by}{': ' if measures else ''}{_computed(measures)}"
        case SetOperation(_, _, kind, every, given):
            return f"{kind.capitalize()}{' all' if every else ''} {_names(given)}"
        case Window(_, partition, order, frame, calls):
            parts = [f"by {_listed(partition)}"] if partition else []
            parts += [f"order {_ordered(order)}"] if order else []
            parts += [_sql(frame)] if frame is not None else []
            return f"Window {' '.join(parts)}: {_computed(calls)}"
        case Top(_, order, limit, offset):
            parts = [_sql(limit)] if limit is not None else ["all"]
            parts += [f"after {_sql(offset)}"] if offset is not None else []
            parts += [f"by {_ordered(order)}"] if order else []
            return f"Top {' '.join(parts)}"
        case Match(_, _, clause, _, _, given):
            by = f" by {', '.join(clause.partition)}" if clause.partition else ""
            within = f" within {duration(clause.within)}" if clause.within else ""
            names = ", ".join(clause.names)
            return f"Match {names}{by} order {clause.time}{within}: {_names(given)}"
        case Self(name):
            return f"Self {name}"
        case Fixpoint(name, _, _, distinct, given):
            return f"Fixpoint {name}{' distinct' if distinct else ''}: {_names(given)}"
    raise NotImplementedError(type(node).__name__)


def _computed(items: Sequence[Computed]) -> str:
    return ", ".join(
        each.name if each.passed else f"{each.name} := {_sql(each.value)}" for each in items
    )


def _renamed(own: str, of: str) -> str:
    return own if own == of else f"{own} = {of}"


def _names(columns: Iterable[Column]) -> str:
    return ", ".join(each.name for each in columns)


def _listed(scalars: Iterable[exp.Expr]) -> str:
    return ", ".join(map(_sql, scalars))


def _ordered(order: Sequence[exp.Ordered]) -> str:
    return _sql(exp.Order(expressions=[each.copy() for each in order])).removeprefix("ORDER BY ")


def _sql(scalar: exp.Expr) -> str:
    return ties_left_out(scalar).sql(dialect=Headwater)
