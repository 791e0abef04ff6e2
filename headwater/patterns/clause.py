"""A parsed ``MATCH_RECOGNIZE`` → a checked clause, with what it reads and gives.

In: the parser's node. Out: :class:`MatchClause`. The caller computes ``inputs`` beforehand, as
columns over its rows, and ``outputs`` afterwards, over the columns of the result; so every scalar
function keeps the meaning that it has elsewhere in a query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlglot import exp

from headwater.dialect.position import source_of, span_of
from headwater.dialect.syntax import MatchRecognize
from headwater.dialect.vocabulary import LENGTHS
from headwater.errors import SqlError
from headwater.patterns.conditions import VariableCondition, read_conditions
from headwater.patterns.grammar import PatternMistake, read
from headwater.patterns.navigation import ExpressionReader, Navigation, Reference, fail
from headwater.patterns.program import DONE, PatternProgram
from headwater.patterns.tree import (
    Alternation,
    Concatenation,
    Exclusion,
    PatternVariable,
    Permutation,
    Repetition,
    RowPattern,
    bounds,
)

MAX_VARIABLES = 62
"""A row's set of satisfied variables is one number of 64 bits."""


MATCH, CLOSE = "_match", "_close"
"""Columns of the result: the match's number, and the watermark at which the row is final."""


@dataclass(frozen=True, slots=True)
class Skip:
    """``AFTER MATCH SKIP``.

    Attributes:
        to_next: ``TO NEXT ROW``.
        labels: of ``TO FIRST`` and ``TO LAST``: the variables; None for ``PAST LAST ROW``.
        last: the last row of these; otherwise the first one.
        variable: their name, for messages.
    """

    to_next: bool = False
    labels: frozenset[int] | None = None
    last: bool = True
    variable: str = ""


@dataclass(frozen=True, eq=False)
class MatchClause:
    """A checked clause.

    Attributes:
        pattern: its tree.
        program: the same for the matcher.
        bound: the greatest number of rows of a match; None if the pattern sets none.
        within: the greatest time from a match's first row to its last; None without ``WITHIN``.
        partition: the input columns of ``PARTITION BY``.
        time: the input column of the first ``ORDER BY`` key; empty without ``ORDER BY``.
        skip: where the search goes on.
        all_rows: ``ALL ROWS PER MATCH``.
        show_empty: empty matches have a row.
        show_unmatched: rows without a match are shown.
        conditions: of each variable.
        inputs: expressions over the input that the matcher reads as columns, by their names; those
            that read other rows hold ``LAG`` and ``LEAD`` over the partition.
        results: the columns that the matcher adds, by their names.
        outputs: the measures, as expressions over ``results`` and ``_match``.
        lookback: how many rows before a match its rows may read.
        lookahead: how many rows behind.
    """

    pattern: RowPattern
    program: PatternProgram = field(repr=False)
    bound: int | None
    within: timedelta | None
    partition: tuple[str, ...]
    time: str
    skip: Skip
    all_rows: bool
    show_empty: bool
    show_unmatched: bool
    conditions: tuple[VariableCondition, ...]
    inputs: Mapping[str, exp.Expr]
    results: Mapping[str, Reference]
    outputs: tuple[tuple[str, exp.Expr], ...]
    lookback: int = 0
    lookahead: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The variables of the pattern, by index."""
        return self.program.names


def read_clause(node: MatchRecognize, coordinates: Sequence[exp.Expr] = ()) -> MatchClause:
    """Check a clause and return what a matcher needs of it.

    Args:
        node: the clause.
        coordinates: what orders rows of one time; ``LAG`` and ``LEAD`` of ``inputs`` follow it.

    Raises:
        SqlError: what is wrong with it, at its place.
    """
    return _ClauseReader(node, coordinates).clause()


@dataclass
class InputColumns:
    """The columns that a matcher reads, each expression once."""

    expressions: dict[str, exp.Expr] = field(default_factory=dict)

    def hoist(self, expression: exp.Expr) -> str:
        """Return the name of the column that holds an expression over the rows of the input."""
        if isinstance(expression, exp.Column):
            self.expressions[expression.name] = expression
            return expression.name
        for name, known in self.expressions.items():
            if known == expression:
                return name
        name = f"_in{sum(key.startswith('_in') for key in self.expressions)}"
        self.expressions[name] = expression
        return name


class _ClauseReader:
    def __init__(self, node: MatchRecognize, coordinates: Sequence[exp.Expr]) -> None:
        self._node, self._coordinates = node, coordinates
        self._inputs = InputColumns()
        self._results: dict[str, Reference] = {}
        self._pattern, self._program = self._read_pattern()
        names = self._program.names
        if len(names) > MAX_VARIABLES:
            message = f"the pattern has {len(names)} variables, more than {MAX_VARIABLES}"
            hint = "give variables of the same condition one name"
            fail("TOO_COMPLEX", message, hint, node.args["pattern"])
        self._labels = {name: frozenset({index}) for index, name in enumerate(names)}
        self._subsets()

    def clause(self) -> MatchClause:
        args = self._node.args
        rows = args["rows"].name.upper() if args.get("rows") else "ONE ROW PER MATCH"
        self._show_unmatched = "UNMATCHED" in rows
        if self._show_unmatched and self._program.excludes:
            hint = "write ALL ROWS PER MATCH SHOW EMPTY MATCHES, or remove {- and -}"
            message = "{- … -} stands beside WITH UNMATCHED ROWS"
            fail("INVALID_PATTERN", message, hint, args["rows"])
        order = args["order"].expressions if args.get("order") else []
        partition = tuple(self._inputs.hoist(each) for each in args.get("partition_by") or ())
        time = self._inputs.hoist(order[0].this) if order else ""
        conditions = read_conditions(
            args["define"], self._program.names, self._labels, self._inputs.hoist, self._window
        )
        outputs = self._outputs(args.get("measures") or [])
        reads = [each for each in self._results.values() if isinstance(each, Navigation)]
        reads += [navigation for each in conditions for navigation in each.reads]
        physical = [0, *(each.physical for each in reads)]
        return MatchClause(
            pattern=self._pattern,
            program=self._program,
            bound=bounds(self._pattern)[1],
            within=self._within(order),
            partition=partition,
            time=time,
            skip=self._skip(),
            all_rows=rows.startswith("ALL"),
            show_empty="OMIT" not in rows,
            show_unmatched=self._show_unmatched,
            conditions=conditions,
            inputs=self._inputs.expressions,
            results=self._results,
            outputs=outputs,
            lookback=-min(physical),
            lookahead=max(physical),
        )

    def _read_pattern(self) -> tuple[RowPattern, PatternProgram]:
        node = self._node.args["pattern"]
        source, start = source_of(self._node), node.meta.get("start")
        text = str(node.name)
        if source is not None and start is not None:
            text = source.text[start : node.meta["end"] + 1]
        try:
            pattern = read(text)
            return pattern, PatternProgram(pattern)
        except PatternMistake as mistake:
            span = span_of(node, source)
            if source is not None and start is not None and mistake.length:
                first = start + mistake.at
                span = source.span(first, first + mistake.length)
            raise SqlError(
                mistake.condition, mistake.message, hint=mistake.hint, span=span
            ) from None

    def _subsets(self) -> None:
        for node in self._node.args.get("subset") or ():
            parts = node.expression if isinstance(node, exp.EQ) else None
            if not isinstance(parts, exp.Tuple | exp.Paren) or not isinstance(
                node.this, exp.Column
            ):
                fail("INVALID_PATTERN", "SUBSET is not a list", "write SUBSET u = (a, b)", node)
            name, members = node.this.name.upper(), parts.expressions or [parts.this]
            if name in self._labels:
                message = f'pattern variable "{name}" is defined twice'
                fail("INVALID_PATTERN", message, "give the subset another name", node)
            found: frozenset[int] = frozenset()
            for member in members:
                if member.name.upper() not in self._program.names:
                    message = f'pattern variable "{member.name.upper()}" is not in the pattern'
                    known = ", ".join(self._program.names)
                    fail("INVALID_PATTERN", message, f"the variables are {known}", member)
                found |= self._labels[member.name.upper()]
            self._labels[name] = found

    def _outputs(self, measures: Sequence[exp.Expr]) -> tuple[tuple[str, exp.Expr], ...]:
        reader = ExpressionReader(self._labels, self._result, self._inputs.hoist)
        found = []
        for measure in measures:
            named = measure.this
            if not isinstance(named, exp.Alias):
                hint = f"write {named.sql()} AS name"
                fail("INVALID_PATTERN", "a measure has no name", hint, named)
            value = reader.rewrite(named.this)
            if self._show_unmatched:  # a row without a match has no measures
                matched = exp.column(MATCH).is_(exp.null()).not_()
                value = exp.case().when(matched, value)
            found.append((named.alias, value))
        return tuple(found)

    def _result(self, reference: Reference) -> exp.Expr:
        if isinstance(reference, Navigation) and reference.column:
            self._inputs.hoist(exp.column(reference.column))
        for name, known in self._results.items():
            if known == reference:
                return exp.column(name)
        name = f"_m{len(self._results)}"
        self._results[name] = reference
        return exp.column(name)

    def _window(self, function: exp.Expr) -> exp.Expr:
        args = self._node.args
        order = args["order"].copy() if args.get("order") else exp.Order(expressions=[])
        for each in self._coordinates:
            order.append("expressions", exp.Ordered(this=each.copy(), nulls_first=False))
        return exp.Window(
            this=function,
            partition_by=[each.copy() for each in args.get("partition_by") or ()],
            order=order if order.expressions else None,
        )

    def _skip(self) -> Skip:
        node = self._node.args.get("after")
        words = node.name.upper().split()[3:] if node is not None else ["PAST", "LAST", "ROW"]
        if node is None or words[0] == "PAST":
            return Skip()
        if words == ["TO", "NEXT", "ROW"]:
            return Skip(to_next=True)
        name = words[-1]
        if name not in self._labels:
            known = ", ".join(self._labels)
            message = f'pattern variable "{name}" is not known'
            fail("INVALID_PATTERN", message, f"the variables are {known}", node)
        return Skip(labels=self._labels[name], last=words[1] != "FIRST", variable=name)

    def _within(self, order: Sequence[exp.Expr]) -> timedelta | None:
        interval = self._node.args.get("within")
        if interval is None:
            return None
        if not order or order[0].args.get("desc"):
            hint = "write ORDER BY with the event time first, ascending"
            fail("INVALID_PATTERN", "WITHIN needs an order by time", hint, interval)
        unit = LENGTHS.get(interval.text("unit").upper().rstrip("S"))
        if unit is None or not interval.name.isdecimal() or int(interval.name) == 0:
            hint = "write a time of fixed length, such as INTERVAL '10' MINUTE"
            fail("INVALID_PATTERN", f"{interval.sql()} is no time of WITHIN", hint, interval)
        return int(interval.name) * unit


def unbounded(clause: MatchClause) -> str:
    """Return why the state of a stream of matches has no bound; empty if it has one."""
    if clause.within is not None or clause.bound is not None:
        return ""
    return "a match of the pattern may take any number of rows, and any time"


def only_empty(clause: MatchClause) -> str:
    """Return why every match of a clause is empty; an empty text if some may have rows."""
    ways = [clause.program.first(at_start, at_end=False) for at_start in (False, True)]
    if all(steps and steps[0][0] == DONE for steps in ways):
        return "the pattern prefers the empty match at every row"
    return ""


def never_final(clause: MatchClause) -> str:
    """Return why no match is ever final while rows may come; empty if matches become final."""
    if clause.program.reads_end:
        return "the pattern ends with the partition ($), and a stream has no end"
    return ""


def skip_may_fail(clause: MatchClause) -> str:
    """Return why ``AFTER MATCH SKIP`` can fail on some rows; empty if it cannot.

    It fails if the match has no row of the variable, or if that row is the match's first.
    """
    skip = clause.skip
    if skip.labels is None:
        return ""
    least = _least(clause.pattern, frozenset(clause.names[each] for each in skip.labels))
    if least == 0:
        return f"AFTER MATCH SKIP to {skip.variable}, of which a match may have no row"
    steps = [
        step for at_start in (False, True) for step, _ in clause.program.first(at_start, False)
    ]
    begins = any(step != DONE and clause.program.variable_of[step] in skip.labels for step in steps)
    if begins and (not skip.last or least == 1):
        return f"AFTER MATCH SKIP to {skip.variable}, which may be the match's first row"
    return ""


def _least(pattern: RowPattern, names: frozenset[str]) -> int:
    """Return the least number of rows of some variables in a match."""
    match pattern:
        case PatternVariable(name):
            return int(name in names)
        case Exclusion(part):
            return _least(part, names)
        case Repetition(part, fewest):
            return fewest * _least(part, names)
        case Alternation(parts):
            return min(_least(part, names) for part in parts)
        case Concatenation(parts) | Permutation(parts):
            return sum(_least(part, names) for part in parts)
    return 0
