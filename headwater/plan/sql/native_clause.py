"""A ``MATCH_RECOGNIZE`` clause as Trino has it.

In: what stands for a clause in a rendered query. Out: Trino's clause, and the rows that it reads.
A condition is a column of these rows for other engines. Here it stands in ``DEFINE``, its ``LAG``
and ``LEAD`` as ``PREV`` and ``NEXT``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from sqlglot import exp

from headwater.analyze.query_parts import relations
from headwater.dialect.syntax import MatchRecognize, PatternRows, ProcessingMode
from headwater.dialect.vocabulary import LENGTHS
from headwater.patterns import MatchClause
from headwater.patterns.clause import MATCH
from headwater.patterns.conditions import VariableCondition
from headwater.patterns.navigation import CLASSIFIER, Aggregation, Navigation, Reference
from headwater.patterns.tree import written

PLACE, OPEN, UNDECIDED, START = "_place", "_open", "_undecided", "_start"
"""Columns of the rows and of the matches: the place of a row in its partition, whether it stands
for whatever may come, whether the last row of a match does, and the place of its first one."""


@dataclass(frozen=True)
class NativeClause:
    """One clause.

    Attributes:
        clause: what it says.
        select: the rows that it reads.
        order: theirs within a partition.
        conditions: what ``DEFINE`` says instead of a column.
    """

    clause: MatchClause
    select: exp.Select
    order: list[exp.Expr]
    conditions: Mapping[str, exp.Expr]

    @classmethod
    def of(cls, rows: PatternRows) -> NativeClause:
        """Return the clause that a node of a rendered query stands for."""
        clause: MatchClause = rows.args["clause"]
        select: exp.Select = rows.this.this.copy()
        items = {item.alias_or_name: item.unalias() for item in select.selects}
        named = [each.column for each in clause.conditions if each.column]
        conditions = {name: found for name in named if (found := _condition(items[name]))}
        dropped = {name for name in conditions if not isinstance(items[name], exp.Column)}
        dropped -= set(_read(clause))
        order = [_plain(each) for each in rows.args["order"].expressions[len(clause.partition) :]]
        if PLACE in items and not any(
            items[name].find(exp.Window) for name in items.keys() - dropped - {PLACE}
        ):  # nothing else depends on it
            dropped.add(PLACE)
            order = _without_places(select)
        kept = [item for item in select.selects if item.alias_or_name not in dropped]
        select.set("expressions", kept)
        return cls(clause, select, order, conditions)

    @property
    def keys(self) -> list[exp.Expr]:
        """The columns of ``PARTITION BY``."""
        return [exp.column(name) for name in self.clause.partition]

    @property
    def names(self) -> list[str]:
        """The columns of the rows."""
        return [item.alias_or_name for item in self.select.selects]

    def over(self, function: exp.Expr) -> exp.Window:
        """Return a function over the partition of a row."""
        order = exp.Order(expressions=[each.copy() for each in self.order])
        keys = self.keys or None
        return exp.Window(this=function, partition_by=keys, order=order, over="OVER")

    def recognize(self, *, final: bool) -> MatchRecognize:
        """Return Trino's clause.

        Args:
            final: the rows have open ones among them; the matches tell whether they take one.
        """
        clause, writer = self.clause, _Writer(self.clause)
        measures: dict[str, exp.Expr] = {MATCH: exp.Anonymous(this="MATCH_NUMBER")}
        measures |= {name: writer.value(each) for name, each in clause.results.items()}
        order = [each.copy() for each in self.order]
        if final:
            measures[UNDECIDED] = writer.value(Navigation(OPEN, final=clause.all_rows))
        if final and clause.show_unmatched:
            measures[START] = writer.value(Navigation(PLACE, last=False))
            order = [exp.Ordered(this=exp.column(PLACE), nulls_first=False)]
        define = [
            exp.alias_(condition, each.variable)
            for each in clause.conditions
            if (condition := self._define(each, writer, final=final)) != exp.true()
        ]
        return MatchRecognize(
            partition_by=self.keys or None,
            order=exp.Order(expressions=order),
            measures=[
                exp.MatchRecognizeMeasure(this=exp.alias_(value, name))
                for name, value in measures.items()
            ],
            rows=exp.var(_rows_per_match(clause)),
            after=exp.var(_after_match(clause, writer)),
            pattern=exp.var(written(clause.pattern)),
            subset=writer.subsets(),
            define=define or [exp.alias_(exp.true(), clause.names[0])],
            alias=exp.TableAlias(this=exp.to_identifier("__found")),
        )

    def _define(self, condition: VariableCondition, writer: _Writer, *, final: bool) -> exp.Expr:
        clause, terms = self.clause, list[exp.Expr]()
        if condition.column:
            column = exp.column(condition.column)
            terms.append(self.conditions.get(condition.column, column).copy())
        terms += [writer.walked(each, condition) for each in condition.walked]
        found: exp.Expr = exp.and_(*terms) if terms else exp.true()
        if final and terms:
            found = exp.or_(exp.column(OPEN), found)
        if clause.within is None:
            return found
        first = writer.value(Navigation(clause.time, last=False))
        last = exp.Add(this=first, expression=_interval(clause.within))
        timely: exp.Expr = exp.LTE(this=exp.column(clause.time), expression=last)
        if final and clause.lookahead:  # what comes behind an open row may be as early as that
            timely = exp.or_(timely, writer.value(Navigation(OPEN, physical=-1)))
        return exp.and_(found, timely) if terms else timely


# the rows


def _condition(expression: exp.Expr) -> exp.Expr | None:
    """A column as ``DEFINE`` says it; None if Trino knows it in SELECT only."""
    windows = list(expression.find_all(exp.Window))
    if expression.find(exp.Lambda, exp.Query, exp.Try):
        return None
    if not all(isinstance(each.this, exp.Lag | exp.Lead) for each in windows):
        return None
    return _plain(expression).transform(_navigated)


def _navigated(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Window):
        return node
    way, offset = "PREV" if isinstance(node.this, exp.Lag) else "NEXT", node.this.args["offset"]
    more = [] if offset.name == "1" else [offset.copy()]
    return exp.Anonymous(this=way, expressions=[node.this.this.copy(), *more])


def _plain(expression: exp.Expr) -> exp.Expr:
    """An expression whose columns have no prefix."""
    return expression.transform(lambda n: exp.column(n.name) if isinstance(n, exp.Column) else n)


def _read(clause: MatchClause) -> Iterator[str]:
    """The columns that a clause reads otherwise than as the condition of a variable."""
    references = [*clause.results.values()]
    for condition in clause.conditions:
        references += condition.names.values()
        for conjunct in condition.walked:
            yield from (column.name for column in conjunct.find_all(exp.Column))
    for each in references:
        if isinstance(each, Navigation):
            yield each.column
        elif isinstance(each, Aggregation):
            yield from each.arguments


def _without_places(select: exp.Select) -> list[exp.Expr]:
    """Read the rows without their places, and return the order that gave these."""
    (item,) = relations(select)
    (place,) = (each for each in item.this.selects if each.alias_or_name == PLACE)
    select.set("from_", exp.From(this=relations(item.this)[0]))
    return [_plain(each) for each in place.find(exp.Window).args["order"].expressions]


# the text


def _rows_per_match(clause: MatchClause) -> str:
    if not clause.all_rows:
        return "ONE ROW PER MATCH"
    if clause.show_unmatched:
        return "ALL ROWS PER MATCH WITH UNMATCHED ROWS"
    return f"ALL ROWS PER MATCH {'SHOW' if clause.show_empty else 'OMIT'} EMPTY MATCHES"


def _after_match(clause: MatchClause, writer: _Writer) -> str:
    skip = clause.skip
    if skip.labels is not None:
        way = "LAST" if skip.last else "FIRST"
        variable = exp.to_identifier(writer.variable(skip.labels)).sql("trino")
        return f"AFTER MATCH SKIP TO {way} {variable}"
    return f"AFTER MATCH SKIP {'TO NEXT' if skip.to_next else 'PAST LAST'} ROW"


def _interval(length: timedelta) -> exp.Interval:
    """The interval in the largest unit that it is a multiple of, or in parts of a second."""
    for unit in ("DAY", "HOUR", "MINUTE"):
        if not length % LENGTHS[unit]:
            return exp.Interval(
                this=exp.Literal.string(str(length // LENGTHS[unit])), unit=exp.var(unit)
            )
    seconds = f"{length.total_seconds():.3f}".rstrip("0").rstrip(".")
    return exp.Interval(this=exp.Literal.string(seconds), unit=exp.var("SECOND"))


class _Writer:
    """Writes what measures and conditions read of a match."""

    def __init__(self, clause: MatchClause) -> None:
        self._names = clause.names
        self._subsets: dict[frozenset[int], str] = {}

    def variable(self, labels: frozenset[int]) -> str:
        """Return the name of a variable, or of a subset of them."""
        if len(labels) == 1:
            return self._names[next(iter(labels))]
        taken = len(self._subsets) + 1
        return self._subsets.setdefault(labels, f"_U{taken}")

    def subsets(self) -> list[exp.Expr] | None:
        """Return the subsets that were read."""
        return [
            exp.EQ(
                this=exp.column(name),
                expression=exp.Tuple(
                    expressions=[exp.column(self._names[each]) for each in sorted(labels)]
                ),
            )
            for labels, name in self._subsets.items()
        ] or None

    def walked(self, conjunct: exp.Expr, condition: VariableCondition) -> exp.Expr:
        """Return a condition that reads the match so far."""

        def read(node: exp.Expr) -> exp.Expr:
            known = isinstance(node, exp.Column) and condition.names.get(node.name)
            return self.value(known) if known else node

        return conjunct.transform(read)

    def value(self, reference: Reference) -> exp.Expr:
        """Return what a reference means."""
        if isinstance(reference, Navigation):
            return self._navigation(reference)
        if not isinstance(reference, Aggregation):
            return exp.Anonymous(this="MATCH_NUMBER")
        arguments = [self._column(each, reference.labels) for each in reference.arguments]
        call = exp.Anonymous(
            this=reference.function.upper(),
            expressions=arguments or [self._column(exp.Star(), reference.labels)],
        )
        return ProcessingMode(this=call, mode="FINAL") if reference.final else call

    def _navigation(self, read: Navigation) -> exp.Expr:
        found = self._column(read.column, read.labels)
        if read.logical or not read.last or read.final:
            offset = [exp.Literal.number(read.logical)] if read.logical else []
            way = "LAST" if read.last else "FIRST"
            found = exp.Anonymous(this=way, expressions=[found, *offset])
        if read.final:
            found = ProcessingMode(this=found, mode="FINAL")
        if read.physical:
            way = "PREV" if read.physical < 0 else "NEXT"
            offset = [exp.Literal.number(abs(read.physical))]
            found = exp.Anonymous(this=way, expressions=[found, *offset])
        return found

    def _column(self, column: str | exp.Star, labels: frozenset[int] | None) -> exp.Expr:
        variable = None if labels is None else exp.to_identifier(self.variable(labels))
        if column == CLASSIFIER:
            of = [exp.Column(this=variable)] if variable else []
            return exp.Anonymous(this="CLASSIFIER", expressions=of)
        this = column if isinstance(column, exp.Star) else exp.to_identifier(column)
        return (
            this if variable is None and this is column else exp.Column(this=this, table=variable)
        )
