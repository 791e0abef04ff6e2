"""Trees are copied and walked in place of sqlglot 30.30.0, which takes twice as long.

Half of what ``check`` and ``plan`` compute are copies of typed trees. sqlglot calls ``deepcopy``
for the type and the ``meta`` of each node, and its walk calls ``typing.cast`` for each child.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeVar

from sqlglot import exp

Tree = TypeVar("Tree", bound=exp.Expr)
_PLAIN = frozenset({str, int, float, bool, type(None)})


def copied(tree: Tree) -> Tree:
    """Return a copy of a tree, with comments and ``meta``; it has no parent.

    Its nodes share their types with those of the tree: nobody changes a type.
    """
    root = _blank(tree)
    waiting: list[tuple[exp.Expr, exp.Expr]] = [(tree, root)]
    while waiting:
        node, copy = waiting.pop()
        if node.comments is not None:
            copy.comments = list(node.comments)
        copy._type = node._type
        if node._meta is not None:
            copy._meta = {
                key: value if type(value) in _PLAIN else deepcopy(value)
                for key, value in node._meta.items()
            }
        args = copy.args
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                args[key] = child = _blank(value)
                child.parent, child.arg_key = copy, key
                waiting.append((value, child))
            elif type(value) is list:
                args[key] = children = []
                for index, each in enumerate(value):
                    if isinstance(each, exp.Expr):
                        child = _blank(each)
                        child.parent, child.arg_key, child.index = copy, key, index
                        waiting.append((each, child))
                        children.append(child)
                    else:
                        children.append(each)
            else:
                args[key] = value
    return root


def _blank(node: Tree) -> Tree:
    """Return a node of the same class that has nothing yet, not even its hash."""
    made = node.__class__.__new__(node.__class__)
    made.args = {}
    made.parent = made.arg_key = made.index = made.comments = None
    made._meta = made._hash = None
    return made


def _breadth_first(
    node: exp.Expr, prune: Callable[[exp.Expr], bool] | None = None
) -> Iterator[exp.Expr]:
    waiting = deque([node])
    while waiting:
        node = waiting.popleft()
        yield node
        if prune is not None and prune(node):
            continue
        for value in node.args.values():  # by now: who got the node may have changed it
            if isinstance(value, exp.Expr):
                waiting.append(value)
            elif isinstance(value, list):
                for each in value:
                    if isinstance(each, exp.Expr):
                        waiting.append(each)


def _find_all(node: exp.Expr, *kinds: type[Tree], bfs: bool = True) -> Iterator[Tree]:
    for each in _breadth_first(node) if bfs else node.dfs():
        if isinstance(each, kinds):
            yield each


def _children(node: exp.Expr, reverse: bool = False) -> Iterator[exp.Expr]:
    for value in reversed(node.args.values()) if reverse else node.args.values():
        if isinstance(value, exp.Expr):
            yield value
        elif isinstance(value, list):
            for each in reversed(value) if reverse else value:
                if isinstance(each, exp.Expr):
                    yield each


def _deepcopied(node: exp.Expr, memo: dict[int, Any]) -> exp.Expr:
    return copied(node)


exp.Expression.copy = copied  # type: ignore[method-assign, assignment]
exp.Expression.__deepcopy__ = _deepcopied  # type: ignore[method-assign, assignment]
exp.Expression.bfs = _breadth_first  # type: ignore[method-assign, assignment]
exp.Expression.find_all = _find_all  # type: ignore[method-assign, assignment]
exp.Expression.iter_expressions = _children  # type: ignore[method-assign, assignment]
