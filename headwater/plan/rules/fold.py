"""Fold: an aggregate or DISTINCT → how its table takes in what its inputs gain and lose.

In: a view whose tree groups rows that have a change. Out: its
:class:`~headwater.plan.program.FoldProgram`: the aggregated change, and per column how it is folded
into the state. Where rows also go, those of the change have a sign, and each group counts its rows,
so that it goes with the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlglot import exp

from headwater.algebra.change import ChangeTree, all_rows, change_of, has_change, has_parts
from headwater.algebra.nodes import (
    Aggregate,
    Computed,
    Filter,
    Join,
    JoinKind,
    Node,
    Project,
    Query,
    Scan,
    Union,
    Window,
    from_bottom,
    nodes_of,
)
from headwater.algebra.properties.drift import drifting
from headwater.algebra.properties.windows import least_keys
from headwater.algebra.scalars import names_in, nothing, passed_on, replaced
from headwater.analyze.definitions import Catalog, Field, View
from headwater.analyze.portable.rewrites import portable
from headwater.analyze.query_parts import is_aggregate, is_distinct, optional
from headwater.analyze.rules.changelog import ChangelogModes
from headwater.analyze.typing.types import spark_type
from headwater.plan.program import READS_CHANGE, FoldProgram, StateColumn
from headwater.plan.query_shape import Shape, aggregates
from headwater.plan.rules.bags import reads_bags
from headwater.plan.rules.contract import Engine, Facts, Rule
from headwater.plan.rules.folds import Fold, fold_of, type_of
from headwater.plan.sql.change import reads_of, rows_of
from headwater.plan.sql.from_algebra import select_of
from headwater.plan.sql.late import late_queries
from headwater.plan.sql.render import print_sql, spark_expression

_CHANGED = "__changed"
_ROWS = exp.Count(this=exp.Star())
_STRICT = (exp.Column, exp.Identifier, exp.Literal, exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul)
"""What is NULL where a part of it is."""


@dataclass(frozen=True, slots=True)
class _Groups:
    """The groups that a tree is made of.

    Attributes:
        over: their tree, over a relation ``__changed``.
        rows: the rows that are grouped.
        change: their change, or one that makes as much of the groups.
    """

    over: Query
    rows: Node
    change: ChangeTree

    @classmethod
    def of(cls, tree: Query, appends: Callable[[str], bool]) -> _Groups | None:
        """Return the groups of a view's tree, None if it is made of something else.

        Args:
            tree: of a view.
            appends: whether a relation only gains rows.
        """
        above, node = None, tree.root
        if isinstance(node, Project):
            above, node = node, node.input
        if not isinstance(node, Aggregate) or not _has_change(node):
            return None
        scan = Scan(_CHANGED, tuple((each, each.name) for each in node.input.columns))
        over = Query(above.over([node.over([scan])]) if above else node.over([scan]), tree.labels)
        change = change_of(node.input, appends)
        if change and change.sign and (found := _only_found(node)) is not None:
            other = change_of(found, appends)
            change = other if other and not other.sign else change
        return cls(over, node.input, change) if change else None

    @property
    def signed(self) -> bool:
        """Whether some of the rows also go."""
        return bool(self.change.sign)

    @property
    def select(self) -> exp.Select:
        """Their SELECT, over ``__changed``."""
        found = select_of(self.over)
        assert isinstance(found, exp.Select)
        return found


def _has_change(groups: Aggregate) -> bool:
    """Whether the rows that are grouped have a change, of one step that looks at parts at most."""
    steps = [each for each in from_bottom(groups.input) if not has_change(each)]
    if not steps:
        return True
    if len(steps) > 1 or not has_parts(steps[0]):
        return False
    drifts = drifting(groups.input)  # of a row, what was added must be what is subtracted
    read = names_in(each.value for each in groups.measures).union(groups.keys)
    return drifts is not None and not drifts & read


def _only_found(groups: Aggregate) -> Node | None:
    """The rows of a LEFT JOIN that are grouped, without those that go once a match is found.

    Where a row without a match is only a row of its group, each row of the left side can stand
    beside its matches. None where it is more, and of other rows.
    """
    path: list[Filter | Project] = []
    node = groups.input
    while isinstance(node, (Filter, Project)):
        path.append(node)
        node = node.input
    if not isinstance(node, Join) or node.kind is not JoinKind.LEFT:
        return None
    right = {each.name for each in node.right.columns}
    asked = [each.predicate for each in path if isinstance(each, Filter)]
    asked += [made.value for each in path if isinstance(each, Project) for made in _made(each)]
    if right & names_in(asked).union(groups.keys) or not all(
        _skips_nulls(call.value, right) for call in groups.measures
    ):
        return None
    nulls = (Computed(each, nothing(each.type)) for each in node.columns if each.name in right)
    alone = Project(node.left, (*map(passed_on, node.left.columns), *nulls))
    found: Node = Union((alone, replace(node, kind=JoinKind.INNER)), node.columns)
    for each in reversed(path):
        found = each.over([found])
    return found


def _made(node: Project) -> list[Computed]:
    return [each for each in node.outputs if not each.passed]


def _skips_nulls(call: exp.Expr, names: set[str]) -> bool:
    """Whether an aggregate skips rows in which some columns are NULL."""
    argument = (call.this if isinstance(call, exp.Filter) else call).this
    nodes = [*argument.walk()] if isinstance(argument, exp.Expr) else []
    read = any(isinstance(node, exp.Column) and node.name in names for node in nodes)
    return read and all(isinstance(node, _STRICT) for node in nodes)


def fold_program(
    view: View, shape: Shape, catalog: Catalog, allowed: timedelta | None
) -> FoldProgram:
    """Return how the groups of a view take in its change.

    Args:
        allowed: allowed lateness, or None if every row counts.
    """
    groups = _Groups.of(view.tree, ChangelogModes(catalog).appends)
    assert groups is not None
    folding, reads = _Folding(view, groups), reads_of(groups.change)
    labels = [(each.name, each.name) for each in groups.rows.columns]

    def grouped(rows: ChangeTree) -> str:
        return folding.grouped(rows_of(rows, labels, catalog, allowed))

    every = all_rows(groups.rows) if groups.signed else ChangeTree(groups.rows)
    return FoldProgram(
        grouped(groups.change),
        tuple(folding.keys.values()),
        tuple(folding.columns),
        # a group goes with its last row
        delete_when=f"t.{folding.rows} + s.{folding.rows} = 0" if folding.rows else "",
        insert_when=f"s.{folding.rows} > 0" if folding.rows else "",
        holds=folding.holds,
        late=late_queries(shape, allowed),
        reads=reads,
        whole_sql="" if reads is READS_CHANGE else grouped(every),
    )


class _Folding:
    """How groups take in changed rows.

    Attributes:
        keys: by text of a key the name of its column, hidden if the view does not show it.
        columns: of the table.
        rows: the column with the number of rows of a group; empty if none goes.
    """

    def __init__(self, view: View, groups: _Groups) -> None:
        select = portable(groups.select, "spark")
        assert isinstance(select, exp.Select)
        self._select, self._rows = select, groups.rows
        self.keys = _key_columns(select, groups.rows)
        self._calls = _calls(select)
        counted = groups.signed and bool(self.keys)
        if counted:
            self._calls.setdefault(_ROWS.sql(), _ROWS)
        self._folds = {
            text: fold
            for text, call in self._calls.items()
            if (fold := fold_of(call, signed=groups.signed))
        }
        self._names = _state_names(select, self._folds)
        self.rows = _identifier(self._names[_ROWS.sql()][0]) if counted else ""
        shown = _visible_columns(view, select, self.keys, self._folds, self._names)
        names = {column.name for column in shown}
        self.columns = shown + _hidden_columns(select, self.keys, self._folds, self._names, names)

    @property
    def holds(self) -> dict[str, str]:
        """What each column of keys and aggregates holds."""
        values, found = _spelled(self._rows), {}
        for key in _group_keys(self._select):
            if (name := self.keys.get(key.sql())) is not None:
                found[name] = _with(key, values)
        for text, call in self._calls.items():
            found |= {name: f"{_with(call, values)}: {name}" for name in self._names.get(text, ())}
        return found

    def grouped(self, rows: exp.Query) -> str:
        """Return the query of some rows in their groups."""
        query = self._select.copy()
        query.args["from_"].this.replace(rows.subquery(_CHANGED))
        keys = _group_keys(query)
        items = [exp.alias_(key, self.keys[key.sql()]) for key in keys if key.sql() in self.keys]
        for text, fold in self._folds.items():
            pairs = zip(fold.parts, self._names[text], strict=True)
            items += [exp.alias_(spark_expression(part.partial), name) for part, name in pairs]
        query.set("expressions", items)
        query.set("distinct", None if self._folds else exp.Distinct())
        query.set("group", exp.Group(expressions=keys) if self._folds and keys else None)
        if self.rows:  # rows that came and went may leave a group as it was
            changed = (
                exp.NEQ(this=exp.column(name, _CHANGED), expression=exp.Literal.number(0))
                for own in self._names.values()
                for name in own
            )
            query = exp.select("*").from_(query.subquery(_CHANGED)).where(exp.or_(*changed))
        return print_sql(query, "spark")


def _calls(select: exp.Select) -> dict[str, exp.Expr]:
    """The aggregates of a SELECT by their text."""
    return {call.sql(): call for item in select.selects for call in aggregates(item)}


def _group_keys(select: exp.Select) -> list[exp.Expr]:
    """The columns by which a SELECT groups: all of a DISTINCT."""
    if select.args.get("distinct"):
        return list({(key := item.unalias()).sql(): key for item in select.selects}.values())
    group = select.args.get("group")
    return list(group.expressions) if group else []


def _key_columns(select: exp.Select, rows: Node) -> dict[str, str]:
    """By text of a key that identifies groups its column, hidden if the query does not show it."""
    outputs = {item.unalias().sql(): item.alias_or_name for item in reversed(select.selects)}
    keys = {key.name: key.sql() for key in _group_keys(select)}
    shown = {name for name, text in keys.items() if text in outputs}
    texts = (keys[name] for name in least_keys([*keys], shown, rows))
    return {text: outputs.get(text, f"_state_key_{n}") for n, text in enumerate(texts)}


def _spelled(root: Node) -> dict[str, exp.Expr]:
    """By column of a tree what it is: one of a relation, or a value over columns."""
    read: dict[str, exp.Expr] = {each.name: exp.column(each.name) for each in root.columns}
    made: dict[str, exp.Expr] = {}
    for node in from_bottom(root):
        if isinstance(node, Scan):
            read |= {each.name: exp.column(own, node.relation) for each, own in node.reads}
        match node:
            case Project():  # values within values would multiply
                made |= {each.name: replaced(each.value, read) for each in _made(node)}
            case Aggregate(measures=calls) | Window(calls=calls):
                made |= {each.name: replaced(each.value, read) for each in calls}
    return read | made


def _with(node: exp.Expr, values: Mapping[str, exp.Expr]) -> str:
    return replaced(node, values).sql()


def _state_names(select: exp.Select, folds: Mapping[str, Fold]) -> dict[str, tuple[str, ...]]:
    """Aggregate text → its state columns; a visible column serves where it is the state."""
    shown = {item.unalias().sql(): item.alias_or_name for item in reversed(select.selects)}
    names: dict[str, tuple[str, ...]] = {}
    for number, (text, fold) in enumerate(folds.items()):
        if fold.value == "{0}" and text in shown:
            names[text] = (shown[text],)
        else:
            names[text] = tuple(f"_state_{number}_{part.suffix}" for part in fold.parts)
    return names


def _identifier(name: str) -> str:
    """Return a name as Spark SQL, in quotes if it needs them."""
    return exp.to_identifier(name).sql(dialect="spark")


def _values(
    folds: Mapping[str, Fold], names: Mapping[str, tuple[str, ...]], merged: bool
) -> dict[str, str]:
    """Aggregate text → its value, read from the change alone or from state and change merged."""
    values = {}
    for text, fold in folds.items():
        states = [
            part.merge.format(t=f"t.{own}", s=f"s.{own}") if merged else f"s.{own}"
            for part, own in zip(fold.parts, map(_identifier, names[text]), strict=True)
        ]
        values[text] = fold.value.format(*(f"({state})" for state in states))
    return values


def _visible_columns(
    view: View,
    select: exp.Select,
    keys: Mapping[str, str],
    folds: Mapping[str, Fold],
    names: Mapping[str, tuple[str, ...]],
) -> list[StateColumn]:
    inserts, updates = _values(folds, names, merged=False), _values(folds, names, merged=True)
    return [
        StateColumn(
            item.alias_or_name,
            spark_type(field.type),
            _over_state(item.unalias(), field, keys, inserts),
            _over_state(item.unalias(), field, keys, updates),
        )
        for item, field in zip(select.selects, view.fields, strict=True)
    ]


def _over_state(
    node: exp.Expr, field: Field, keys: Mapping[str, str], values: Mapping[str, str]
) -> str:
    """An output expression with its keys and aggregates read from ``s`` and ``t``."""

    def replace(part: exp.Expr) -> exp.Expr:
        text = part.sql()
        if text in keys:
            return exp.column(keys[text], "s")
        return spark_expression(values[text]) if text in values else part

    replaced = node.copy().transform(replace)
    if node.sql() in keys:
        return replaced.sql(dialect="spark")
    return f"CAST({replaced.sql(dialect='spark')} AS {spark_type(field.type)})"


def _hidden_columns(
    select: exp.Select,
    keys: Mapping[str, str],
    folds: Mapping[str, Fold],
    names: Mapping[str, tuple[str, ...]],
    shown: set[str],
) -> list[StateColumn]:
    hidden = [
        StateColumn(
            keys[key.sql()],
            spark_type(type_of(key)),
            f"s.{keys[key.sql()]}",
            f"s.{keys[key.sql()]}",
        )
        for key in _group_keys(select)
        if keys.get(key.sql(), "") not in shown | {""}
    ]
    for text, fold in folds.items():
        for part, name in zip(fold.parts, names[text], strict=True):
            if name not in shown:
                update = part.merge.format(t=f"t.{name}", s=f"s.{name}")
                hidden.append(StateColumn(name, part.type, f"s.{name}", update))
    return hidden


def _applies(facts: Facts) -> str | None:
    """Groups whose state can take in what is computed of a change."""
    view = facts.view
    if not facts.corrects:
        return None
    groups = _Groups.of(view.tree, facts.appends)
    if groups is None or (view.is_delta and not _was_folded(view.query, groups.signed)):
        return None
    calls = _calls(groups.select).values()
    if not all(fold_of(call, signed=groups.signed) for call in calls):
        return None
    scans = nodes_of(groups.rows, Scan)
    reason = "the aggregated change is merged into the state by key"
    if len(scans) > 1:
        reason = "the change of each input is joined with the others, aggregated and merged by key"
    return f"{reason}; removed rows are subtracted" if groups.signed else reason


def _was_folded(query: exp.Expr, signed: bool) -> bool:
    """Whether releases folded a query that looked at no tree.

    A Delta table that was kept by affected groups could not lose their names.
    """
    if not isinstance(query, exp.Select) or query.args.get("having"):
        return False
    *others, last = optional(query) or [False]
    if any(others) or (last and signed):
        return False
    return is_aggregate(query) is not is_distinct(query) and reads_bags(query)


RULE = Rule("fold", Engine.INCREMENTAL, _applies, fold_program, by_tree=True)
