"""A query that fails → a smaller one that fails too.

In: SQL text and what tells whether a text fails. Out: text from which nothing can be taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp, parse_one

from headwater.dialect.parser import Headwater

_CLAUSES = ("where", "having", "qualify", "distinct", "group")


def shrink(text: str, fails: Callable[[str], bool]) -> str:
    """Return the smallest text that was found to fail.

    Args:
        text: a query that fails.
        fails: whether a query does.
    """
    smaller = True
    while smaller:
        tries = sorted(set(candidates(text)), key=lambda each: (len(each), each))
        smaller = next((each for each in tries if len(each) < len(text) and fails(each)), None)
        text = smaller or text
    return text


def candidates(text: str) -> Iterator[str]:
    """Yield texts from which something was taken away."""
    root = parse_one(text, dialect=Headwater)
    yield from (inner.sql(Headwater) for inner in root.find_all(exp.Select, exp.SetOperation))
    for at, node in enumerate(root.walk()):
        for change in _changes(node):
            copy = root.copy()
            change(list(copy.walk())[at])
            yield copy.sql(Headwater)


def _changes(node: exp.Expr) -> Iterator[Callable[[exp.Expr], object]]:
    """Yield what could be taken away from a node."""
    if isinstance(node, exp.Select):
        for clause in _CLAUSES:
            if node.args.get(clause):
                yield lambda found, clause=clause: found.set(clause, None)
        if node.args.get("limit"):
            yield lambda found: (found.set("limit", None), found.set("order", None))
        if len(node.selects) > 1:
            yield lambda found: found.set("expressions", found.selects[:-1])
        for number in range(len(node.args.get("joins") or [])):
            yield lambda found, number=number: found.args["joins"][number].pop()
    elif isinstance(node, (exp.Connector, exp.Coalesce)):
        yield lambda found: found.replace(found.this.copy())
        if node.args.get("expression") is not None:
            yield lambda found: found.replace(found.expression.copy())
    elif isinstance(node, exp.Join) and node.side:
        yield lambda found: found.set("side", None)
    elif isinstance(node, exp.Filter):
        yield lambda found: found.replace(found.this.copy())
    elif isinstance(node, exp.Window):
        for number in range(len(node.args.get("partition_by") or [])):
            yield lambda found, number=number: found.args["partition_by"][number].pop()
