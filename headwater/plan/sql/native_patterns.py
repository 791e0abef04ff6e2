"""``MATCH_RECOGNIZE`` in a query for Trino, which has the clause itself.

In: a rendered query. Out: the same query, in which Trino's clause stands for each one.

Trino has no ``WITHIN``: it is a condition on the time of every row of a match. Nor does Trino say
when a match is final. So rows at or behind the watermark are left out, and a few *open* rows stand
for whatever may come: each satisfies every variable. A match that takes an open row, and every one
behind it in its partition, may still change; all others are final.
"""

from __future__ import annotations

from datetime import timedelta

from sqlglot import exp

from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.dialect.syntax import MatchRecognize, PatternRows, ProcessingMode
from headwater.dialect.vocabulary import LENGTHS
from headwater.errors import SqlError
from headwater.patterns import MatchClause
from headwater.patterns.clause import CLOSE, MATCH
from headwater.patterns.conditions import VariableCondition
from headwater.patterns.navigation import CLASSIFIER, Aggregation, Navigation, Reference
from headwater.patterns.program import DONE
from headwater.patterns.tree import written
from headwater.plan.sql.render import timestamp

UNTIL = "until"
"""Key of the ``meta`` of a clause: the watermark, in microseconds, up to which its matches must be
final; None if no match is."""

_PLACE, _OPEN, _UNDECIDED, _START = "_place", "_open", "_undecided", "_start"
_KNOWN = "__known"


def native(query: exp.Expr) -> exp.Expr:
    """Return a query with Trino's own clauses.

    Args:
        query: a rendered query; it is changed.

    Raises:
        SqlError: ``QUERY_REFUSED``, as :func:`not_told` says.
    """
    root = exp.Paren(this=query)
    for rows in list(root.find_all(PatternRows)):
        rows.replace(_relation(rows))
    found: exp.Expr = root.this.pop()
    return found


def inexpressible(clause: MatchClause) -> str:
    """Return why Trino cannot find the matches of a clause; empty if it can."""
    if clause.within is not None and clause.within % timedelta(milliseconds=1):
        return "Trino has no interval of microseconds, as WITHIN says"
    return ""


def not_told(clause: MatchClause) -> str:
    """Return why Trino cannot find the matches of a clause that are final; empty if it can."""
    if reason := inexpressible(clause):
        return reason
    program = clause.program
    ways = [program.first(at_start, at_end=False) for at_start in (False, True)]
    if not clause.all_rows and any(steps[:1] and steps[0][0] == DONE for steps in ways):
        return "Trino does not say at which row a preferred empty match is"
    if program.rows_to_end is None:
        return "a part of the pattern can never match, since ^ stands behind a row"
    past_last = not clause.skip.to_next and clause.skip.labels is None
    if clause.all_rows and program.excludes and not past_last:
        return "Trino does not show the matches whose rows are all excluded"
    return ""


def _relation(rows: PatternRows) -> exp.Expr:
    clause: MatchClause = rows.args["clause"]
    alias = rows.args["alias"].copy()
    until = rows.meta.get(UNTIL)
    if reason := inexpressible(clause) if until is None else not_told(clause):
        hint = "compare the view in DuckDB: headwater verify"
        raise SqlError("QUERY_REFUSED", reason, hint=hint)
    if until is None:
        found = _matches(rows, _aliased(rows.this.this, "__rows"), final=False)
        shown = _columns(rows)
        if UNTIL in rows.meta:
            shown.append(named(exp.cast(exp.null(), t.TIMESTAMPTZ), CLOSE))
        return exp.Subquery(this=exp.select(*shown).from_(found), alias=alias)
    found = _matches(rows, _with_open_rows(rows, until), final=True)
    close = named(_close(clause, until), CLOSE)
    return exp.Subquery(this=exp.select(*_columns(rows), close).from_(found), alias=alias)


def _columns(rows: PatternRows) -> list[exp.Expr]:
    return [exp.column(name) for name, _ in rows.args["fields"] if name != CLOSE]


def _aliased(query: exp.Query, name: str) -> exp.Subquery:
    return exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier(name)))


# what may still come


def _with_open_rows(rows: PatternRows, until: int) -> exp.Subquery:
    """The rows before a watermark, and open ones behind them."""
    clause: MatchClause = rows.args["clause"]
    inner: exp.Select = rows.this.this
    names = [item.alias_or_name for item in inner.selects]
    (time,) = (item for item in inner.selects if item.alias_or_name == clause.time)
    limit = timestamp(until, type_of(time.unalias()))
    keys = [exp.column(name) for name in clause.partition]
    extra = {_OPEN: _is_open(rows)}
    if clause.show_unmatched and _PLACE not in names:
        extra[_PLACE] = _over(exp.RowNumber(), rows)
    known = exp.select(*map(exp.column, names), *(named(v, n) for n, v in extra.items()))
    known = known.from_(_aliased(inner, "__rows"))
    known = known.where(exp.LT(this=exp.column(clause.time), expression=limit.copy()))
    given = {clause.time: limit, _OPEN: exp.true(), **{key.name: key for key in keys}}
    shown = [named(given.get(name, exp.null()).copy(), name) for name in [*names, *extra]]
    counted = f"UNNEST(SEQUENCE(1, {clause.program.rows_to_end})) AS __open (n)"
    open_rows = exp.select(*shown)
    if keys:
        each = exp.select(*(key.copy() for key in keys)).distinct().from_(_KNOWN)
        open_rows = open_rows.from_(_aliased(each, "__keys"))
        open_rows = open_rows.join(counted, join_type="CROSS", dialect="trino")
    else:
        open_rows = open_rows.from_(counted, dialect="trino")
    union = exp.union(exp.select("*").from_(_KNOWN), open_rows, distinct=False)
    return _aliased(union.with_(_KNOWN, as_=known), "__rows")


def _is_open(rows: PatternRows) -> exp.Expr:
    """Whether a condition or measure of a row reads further rows than there are."""
    clause: MatchClause = rows.args["clause"]
    if not clause.lookahead:
        return exp.false()
    offset = exp.Literal.number(clause.lookahead)
    behind = exp.Lead(this=exp.column(clause.time), offset=offset)
    return _over(behind, rows).is_(exp.null())


def _over(function: exp.Expr, rows: PatternRows) -> exp.Window:
    clause: MatchClause = rows.args["clause"]
    keys = [exp.column(name) for name in clause.partition]
    order = exp.Order(expressions=_order(rows))
    return exp.Window(this=function, partition_by=keys or None, order=order, over="OVER")


def _order(rows: PatternRows) -> list[exp.Expr]:
    items = rows.args["order"].expressions[len(rows.args["clause"].partition) :]
    return [item.copy() for item in items]


def _close(clause: MatchClause, until: int) -> exp.Expr:
    """The watermark for the rows that are final by then, NULL for others."""
    undecided: exp.Expr = exp.column(_UNDECIDED)
    place: exp.Expr = exp.column(MATCH)
    if clause.all_rows:  # an empty match has no last row, but is shown with its own
        undecided = exp.func("COALESCE", undecided, exp.column(_OPEN))
    if clause.show_unmatched:
        place = exp.func("COALESCE", exp.column(_START), exp.column(_PLACE))
    first = exp.Min(this=exp.case().when(undecided.copy(), place.copy()))
    keys = [exp.column(name) for name in clause.partition]
    least = exp.Window(this=first, partition_by=keys or None, over="OVER")
    waits = exp.or_(undecided, exp.GTE(this=place, expression=least))
    return exp.case().when(waits, exp.null()).else_(timestamp(until, t.TIMESTAMPTZ))


# the clause


def _matches(rows: PatternRows, source: exp.Subquery, *, final: bool) -> exp.Subquery:
    clause: MatchClause = rows.args["clause"]
    writer = _Writer(clause)
    measures: dict[str, exp.Expr] = {MATCH: exp.Anonymous(this="MATCH_NUMBER")}
    measures |= {name: writer.value(each) for name, each in clause.results.items()}
    if final:
        last = Navigation(_OPEN, logical=0, final=clause.all_rows)
        measures[_UNDECIDED] = writer.value(last)
        if clause.show_unmatched:
            measures[_START] = writer.value(Navigation(_PLACE, last=False))
    define = [
        exp.alias_(condition, each.variable)
        for each in clause.conditions
        if (condition := _condition(each, clause, writer, final=final)) != exp.true()
    ]
    defined = define or [exp.alias_(exp.true(), clause.names[0])]
    order = _order(rows)
    if final and clause.show_unmatched:
        order = [exp.Ordered(this=exp.column(_PLACE), nulls_first=False)]
    source.set(
        "match",
        MatchRecognize(
            partition_by=[exp.column(name) for name in clause.partition] or None,
            order=exp.Order(expressions=order),
            measures=[
                exp.MatchRecognizeMeasure(this=exp.alias_(value, name))
                for name, value in measures.items()
            ],
            rows=exp.var(_rows_per_match(clause)),
            after=exp.var(_after_match(clause, writer)),
            pattern=exp.var(written(clause.pattern)),
            subset=writer.subsets(),
            define=defined,
            alias=exp.TableAlias(this=exp.to_identifier("__found")),
        ),
    )
    return source


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


def _condition(
    condition: VariableCondition, clause: MatchClause, writer: _Writer, *, final: bool
) -> exp.Expr:
    terms: list[exp.Expr] = [exp.column(condition.column)] if condition.column else []
    terms += [writer.walked(each, condition) for each in condition.walked]
    found: exp.Expr = exp.and_(*terms) if terms else exp.true()
    if final and terms:
        found = exp.or_(exp.column(_OPEN), found)
    if clause.within is None:
        return found
    first = writer.value(Navigation(clause.time, last=False))
    last = exp.Add(this=first, expression=_interval(clause.within))
    timely: exp.Expr = exp.LTE(this=exp.column(clause.time), expression=last)
    if final and clause.lookahead:  # what comes behind an open row may be as early as that
        timely = exp.or_(timely, writer.value(Navigation(_OPEN, physical=-1)))
    return exp.and_(found, timely) if terms else timely


def _interval(length: timedelta) -> exp.Interval:
    """The interval in the largest unit that it is a multiple of, or in parts of a second."""
    for unit in ("DAY", "HOUR", "MINUTE"):
        if not length % LENGTHS[unit]:
            return exp.Interval(
                this=exp.Literal.string(str(length // LENGTHS[unit])), unit=exp.var(unit)
            )
    seconds = f"{length.total_seconds():g}"
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
