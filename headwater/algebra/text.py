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
from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from headwater.algebra.nodes import (
    Aggregate,
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
    SetOperation,
    TimeWindows,
    Top,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.dialect.parser import Headwater


def text_of(query: Query) -> str:
    """Return the text of a tree; the first line has the names that people see."""
    labels = (_renamed(label, name) for label, name in query.labels)
    return "\n".join([f"show {', '.join(labels)}", *_Text(query.root).lines(query.root)])


class _Text:
    def __init__(self, root: Node) -> None:
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
        yield number + _words(node)
        for left, each in reversed([*enumerate(reversed(node.inputs))]):
            first, rest = ("├─ ", "│  ") if left else ("└─ ", "   ")
            for line in self.lines(each):
                yield first + line
                first = rest


def _words(node: Node) -> str:
    """What a node does, as one line."""
    match node:
        case Scan(relation, reads):
            items = (_renamed(each.name, own) for each, own in reads)
            return f"Scan {relation}: {', '.join(items)}"
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
        case Aggregate(_, keys, measures):
            by = f" by {', '.join(keys)}" if keys else ""
            return f"Aggregate{by}{': ' if measures else ''}{_computed(measures)}"
        case SetOperation(_, _, kind, every, given):
            return f"{kind.capitalize()}{' all' if every else ''} {_names(given)}"
        case Window(_, partition, order, frame, calls):
            parts = [f"by {_listed(partition)}"] if partition else []
            parts += [f"order {_listed(order)}"] if order else []
            parts += [_sql(frame)] if frame is not None else []
            return f"Window {' '.join(parts)}: {_computed(calls)}"
        case Top(_, order, limit, offset):
            parts = [_sql(limit)] if limit is not None else ["all"]
            parts += [f"after {_sql(offset)}"] if offset is not None else []
            parts += [f"by {_listed(order)}"] if order else []
            return f"Top {' '.join(parts)}"
        case Match(_, order, clause, _, _, given):
            by = f" by {', '.join(clause.partition)}" if clause.partition else ""
            return f"Match{by} order {_listed(order)}: {_names(given)}"
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


def _sql(scalar: exp.Expr) -> str:
    return scalar.sql(dialect=Headwater)
