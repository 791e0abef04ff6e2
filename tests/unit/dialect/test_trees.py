"""Copies of trees have all that sqlglot's own have, and share nothing that anybody changes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import pytest
from sqlglot import exp

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.dialect.position import SOURCE_META

FILE = """
CREATE TABLE t (id BIGINT, v DECIMAL(10, 2), xs ARRAY(BIGINT), r ROW(a BIGINT, b VARCHAR))
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW v AS
SELECT id, sum(v) /* all */ AS s, CASE WHEN id > 1 THEN r.b ELSE 'x' END AS c, xs[1] AS x
FROM t WHERE id IN (SELECT id FROM t WHERE v > 3) GROUP BY id, r.b, xs[1];
"""


def queries() -> list[exp.Expr]:
    statements = parse(FILE, file="v.sql")
    return [*statements, bind({"v.sql": parse(FILE, file="v.sql")}).views["v"].query]


def children(node: exp.Expr) -> Iterator[tuple[str, int | None, exp.Expr]]:
    for key, value in node.args.items():
        for index, each in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(each, exp.Expr):
                yield key, index if isinstance(value, list) else None, each


def nodes(root: exp.Expr) -> list[exp.Expr]:
    """The nodes level by level, without a walk of the tree's own."""
    found, waiting = [], deque([root])
    while waiting:
        found.append(waiting.popleft())
        waiting += [each for *_, each in children(found[-1])]
    return found


@pytest.mark.parametrize("tree", queries(), ids=lambda tree: type(tree).__name__)
def test_a_copy_is_equal_and_apart(tree: exp.Expr) -> None:
    copy = tree.copy()
    pairs = list(zip(nodes(tree), nodes(copy), strict=True))
    assert copy == tree and copy.parent is None
    for node, twin in pairs:
        assert type(node) is type(twin) and node is not twin
        assert list(node.args) == list(twin.args)
        assert (node.comments, node.type, node.meta) == (twin.comments, twin.type, twin.meta)
        assert node.meta is not twin.meta
        assert node.comments is not twin.comments or node.comments is None
        assert node.meta.get(SOURCE_META) is twin.meta.get(SOURCE_META)
        for key, index, child in children(twin):
            assert (child.parent, child.arg_key, child.index) == (twin, key, index)
            assert child.parent is twin


@pytest.mark.parametrize("tree", queries(), ids=lambda tree: type(tree).__name__)
def test_a_change_of_a_copy_leaves_the_tree_alone(tree: exp.Expr) -> None:
    before = repr(tree)
    copy = tree.copy()
    assert hash(copy) == hash(tree)
    for column in list(copy.find_all(exp.Identifier)):
        column.set("this", "other")
        column.meta["new"] = True
    assert repr(tree) == before != repr(copy)
    assert copy != tree, "its hash is computed anew"
    assert not any("new" in each.meta for each in tree.walk())


@pytest.mark.parametrize("tree", queries(), ids=lambda tree: type(tree).__name__)
def test_a_walk_meets_all_nodes_in_order(tree: exp.Expr) -> None:
    assert [*map(id, tree.walk())] == [*map(id, nodes(tree))]
    depth_first = [id(each) for each in tree.dfs()]
    assert sorted(depth_first) == sorted(map(id, nodes(tree)))
    assert depth_first[:2] == [id(tree), id(next(children(tree))[2])]
    assert [*tree.iter_expressions(reverse=True)] == [*tree.iter_expressions()][::-1]


def test_a_tree_of_any_depth_is_copied() -> None:
    tree: exp.Expr = exp.column("a")
    for _ in range(20_000):
        tree = exp.Paren(this=tree)
    assert sum(1 for _ in tree.copy().walk()) == 20_002


def test_a_node_has_no_slot_that_copies_leave_out() -> None:
    known = {"args", "parent", "arg_key", "index", "comments", "_type", "_meta", "_hash"}
    assert set(exp.Expression.__slots__) == known
