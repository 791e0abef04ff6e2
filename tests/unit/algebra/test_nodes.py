"""Nodes: what cannot be built, what is equal, and what a tree prints."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlglot import exp, parse_one

from headwater.algebra.nodes import (
    Aggregate,
    Column,
    Computed,
    Elements,
    Equal,
    Filter,
    Fixpoint,
    FlatMap,
    Join,
    JoinKind,
    Malformed,
    Node,
    Project,
    Query,
    Scan,
    Self,
    SetOperation,
    Top,
    Union,
    Values,
    Window,
    from_bottom,
)
from headwater.algebra.passes.lower_filters import lower_filters
from headwater.algebra.passes.prune import prune
from headwater.algebra.text import text_of

BIGINT = exp.DataType.build("BIGINT")
A, B, C = (Column(name, BIGINT, nullable=False) for name in "abc")
T = Scan("t", ((A, "a"), (B, "b")))
U = Scan("u", ((C, "c"),))


def scalar(text: str) -> exp.Expr:
    return parse_one(text)


def new(name: str, text: str) -> Computed:
    return Computed(Column(name, BIGINT), scalar(text))


MALFORMED: list[tuple[Callable[[], Node], str]] = [
    (lambda: Filter(T, scalar("c > 1")), "Filter has no column c below"),
    (lambda: Filter(T, scalar("t.a > 1")), "Filter has no column t.a below"),
    (lambda: Project(T, (new("a", "a + 1"),)), 'gives a new value the name "a" of another'),
    (lambda: Project(T, (new("x", "a"), new("x", "b"))), "two columns of one name"),
    (lambda: Join(T, T, JoinKind.INNER), "two columns of one name"),
    (
        lambda: Join(T, U, JoinKind.INNER, (Equal(scalar("c"), scalar("a")),)),
        "Join has no column c below: ['a', 'b']",
    ),
    (lambda: Join(T, U, JoinKind.MARK), "a mark join and its mark None"),
    (lambda: Join(T, U, JoinKind.SEMI, mark=Column("m", BIGINT)), "a semi join and its mark"),
    (lambda: Join(T, U, JoinKind.MARK, mark=C), 'the mark "c" stands below'),
    (lambda: Aggregate(T, ("c",), ()), "Aggregate has no column c below"),
    (lambda: Aggregate(T, ("a",), (new("b", "sum(b)"),)), 'the name "b" of another'),
    (lambda: Window(T, (), (), None, (new("x", "sum(c)"),)), "Window has no column c below"),
    (lambda: Top(T, (exp.Ordered(this=scalar("c")),), None), "Top has no column c below"),
    (lambda: Union((T, U), (A, B)), "different numbers of columns"),
    (lambda: SetOperation(T, U, "except", False, (A, B)), "different numbers of columns"),
    (lambda: Fixpoint("r", T, U, True, (A, B)), "different numbers of columns"),
    (
        lambda: FlatMap(Project(T, (new("a", "a"),)), Elements((scalar("a"),)), (B,)),
        "names that stand below: ['b']",
    ),
    (lambda: Values((A,), ((),)), "a row of 0 values under 1 columns"),
]


@pytest.mark.parametrize(("made", "message"), MALFORMED, ids=[each for _, each in MALFORMED])
def test_what_means_nothing_cannot_be_built(made: Callable[[], Node], message: str) -> None:
    with pytest.raises(Malformed) as found:
        made()
    assert message in str(found.value)


def test_a_query_shows_what_its_tree_has() -> None:
    with pytest.raises(Malformed):
        Query(T, (("x", "c"),))


def test_columns_of_joins_may_be_missing_where_a_side_is() -> None:
    def nullable(kind: JoinKind, mark: Column | None = None) -> dict[str, bool]:
        return {each.name: each.nullable for each in Join(T, U, kind, mark=mark).columns}

    assert nullable(JoinKind.INNER) == {"a": False, "b": False, "c": False}
    assert nullable(JoinKind.LEFT) == {"a": False, "b": False, "c": True}
    assert nullable(JoinKind.FULL) == {"a": True, "b": True, "c": True}
    for kind in (JoinKind.SEMI, JoinKind.ANTI, JoinKind.NULL_AWARE_ANTI):
        assert nullable(kind) == {"a": False, "b": False}
    mark = Column("found", BIGINT)
    assert nullable(JoinKind.MARK, mark) == {"a": False, "b": False, "found": True}


def test_nodes_are_equal_by_what_they_are() -> None:
    one, two = (Filter(T, scalar("a > 1")) for _ in range(2))
    assert one == two and hash(one) == hash(two) and one != Filter(T, scalar("a > 2"))
    both = Join(Project(one, (new("x", "a"),)), two, JoinKind.INNER)
    assert from_bottom(both) == [T, one, both.left, both]


TOTALS = Aggregate(T, ("a",), (new("total", "sum(b)"),))
RENAMED = Project(TOTALS, (new("a_2", "a"), new("total_2", "total")))
SHARES = Query(
    Project(
        Join(TOTALS, RENAMED, JoinKind.LEFT, (Equal(scalar("a"), scalar("a_2"), null_safe=True),)),
        (new("share", "total - total_2"),),
    ),
    (("share", "share"), ("again", "share")),
)


def test_a_subtree_that_is_read_twice_is_printed_once() -> None:
    assert text_of(SHARES) == (
        "show share, again = share\n"
        "Project share := total - total_2\n"
        "└─ Join left: a IS NOT DISTINCT FROM a_2\n"
        "   ├─ #1 Aggregate by a: total := SUM(b)\n"
        "   │  └─ Scan t: a, b\n"
        "   └─ Project a_2 := a, total_2 := total\n"
        "      └─ see #1"
    )


def shown(root: Node, *names: str) -> list[str]:
    return text_of(prune(Query(root, tuple((each, each) for each in names)))).splitlines()[1:]


R = Self("r", (Column("a", BIGINT), Column("b", BIGINT)))
PRUNED: list[tuple[Node, str, list[str]]] = [
    (Filter(T, scalar("b > 1")), "a", ["Filter b > 1", "└─ Scan t: a, b"]),
    (T, "a", ["Scan t: a"]),
    (Project(T, (new("x", "a"), new("y", "b"))), "x", ["Project x := a", "└─ Scan t: a"]),
    (TOTALS, "a", ["Aggregate by a", "└─ Scan t: a"]),
    (
        Aggregate(T, (), (new("n", "count(a)"), new("m", "sum(b)"))),
        "m",
        ["Aggregate: m := SUM(b)", "└─ Scan t: b"],
    ),
    (Window(T, (scalar("a"),), (), None, (new("x", "sum(b)"),)), "b", ["Scan t: b"]),
    (
        Join(T, U, JoinKind.SEMI, residual=scalar("a > c")),
        "b",
        ["Join semi: a > c", "├─ Scan t: a, b", "└─ Scan u: c"],
    ),
    (
        Union((T, Project(T, (new("x", "b"), new("y", "a")))), (A, B)),
        "b",
        ["Union b", "├─ Scan t: b", "└─ Project y := a", "   └─ Scan t: a"],
    ),
    (
        SetOperation(T, T, "except", False, (A, B)),
        "a",
        ["Except a, b", "├─ Scan t: a, b", "└─ Scan t: a, b"],
    ),
    (
        Fixpoint("r", T, R, True, (A, B)),
        "a",
        ["Fixpoint r distinct: a, b", "├─ Scan t: a, b", "└─ Self r"],
    ),
]


@pytest.mark.parametrize(("root", "name", "expected"), PRUNED, ids=range(len(PRUNED)))
def test_columns_that_nobody_reads_go(root: Node, name: str, expected: list[str]) -> None:
    assert shown(root, name) == expected


def test_an_aggregate_of_all_rows_stays_one_row() -> None:
    """Also where nothing of it is read, as in EXISTS."""
    one = Aggregate(T, (), (new("n", "count(a)"),))
    kept = shown(Join(U, one, JoinKind.INNER), "c")
    assert kept == ["Join inner", "├─ Scan u: c", "└─ Aggregate: n := COUNT(a)", "   └─ Scan t: a"]


LOWERED: list[tuple[Node, list[str]]] = [
    (
        Filter(TOTALS, scalar("a > 1 AND total > 2")),
        ["Filter total > 2", "└─ Aggregate by a: total := SUM(b)", "   └─ Filter a > 1"],
    ),
    (
        Filter(Project(TOTALS, (new("a", "a"), new("x", "total + 1"))), scalar("a > 1")),
        ["Project a, x := total + 1", "└─ Aggregate by a: total := SUM(b)", "   └─ Filter a > 1"],
    ),
    (Filter(TOTALS, scalar("total > 2")), ["Filter total > 2"]),
    (
        Filter(Aggregate(T, (), (new("n", "count(a)"),)), scalar("n > 1")),
        ["Filter n > 1", "└─ Aggregate: n := COUNT(a)"],
    ),
    (Filter(TOTALS, scalar("1 = 0")), ["Filter 1 = 0", "└─ Aggregate by a: total := SUM(b)"]),
    (
        Join(Filter(TOTALS, scalar("a > 1")), RENAMED, JoinKind.INNER),
        ["Join inner", "├─ Filter a > 1", "│  └─ #1 Aggregate by a: total := SUM(b)"],
    ),
]


@pytest.mark.parametrize(("root", "expected"), LOWERED, ids=range(len(LOWERED)))
def test_filters_over_keys_stand_below_their_groups(root: Node, expected: list[str]) -> None:
    """Also through projections; but not of what is read twice, or has a row of no rows."""
    names = tuple((each, each) for each in root.by_name)
    text = text_of(lower_filters(Query(root, names))).splitlines()[1:]
    assert text[: len(expected)] == expected
