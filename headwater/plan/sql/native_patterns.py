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
from headwater.dialect.syntax import PatternRows
from headwater.errors import SqlError
from headwater.patterns import MatchClause
from headwater.patterns.clause import CLOSE, MATCH
from headwater.patterns.program import DONE
from headwater.plan.sql.native_clause import OPEN, PLACE, START, UNDECIDED, NativeClause
from headwater.plan.sql.render import timestamp

UNTIL = "until"
"""Key of the ``meta`` of a clause: the watermark, in microseconds, up to which its matches must be
final; None if no match is."""

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
    until = rows.meta.get(UNTIL)
    if reason := inexpressible(clause) if until is None else not_told(clause):
        hint = "compare the view in DuckDB: headwater verify"
        raise SqlError("QUERY_REFUSED", reason, hint=hint)
    native = NativeClause.of(rows)
    read = _aliased(native.select) if until is None else _with_open_rows(native, until)
    read.set("match", native.recognize(final=until is not None))
    known = {*native.names, MATCH, *clause.results}
    shown: list[exp.Expr] = [exp.column(n) for n, _ in rows.args["fields"] if n in known]
    if until is not None:
        shown.append(named(_close(native, until), CLOSE))
    elif UNTIL in rows.meta:
        shown.append(named(exp.cast(exp.null(), t.TIMESTAMPTZ), CLOSE))
    found = exp.select(*shown).from_(read)
    return exp.Subquery(this=found, alias=rows.args["alias"].copy())


def _aliased(query: exp.Query, name: str = "__rows") -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(name)))


def _with_open_rows(native: NativeClause, until: int) -> exp.Subquery:
    """The rows before a watermark, and open ones behind them."""
    clause, names, keys = native.clause, native.names, native.keys
    (time,) = (item for item in native.select.selects if item.alias_or_name == clause.time)
    limit = timestamp(until, type_of(time.unalias()))
    extra = {OPEN: _is_open(native)}
    if clause.show_unmatched and PLACE not in names:
        extra[PLACE] = native.over(exp.RowNumber())
    known = exp.select(*map(exp.column, names), *(named(v, n) for n, v in extra.items()))
    known = known.from_(_aliased(native.select))
    known = known.where(exp.LT(this=exp.column(clause.time), expression=limit.copy()))
    given = {clause.time: limit, OPEN: exp.true(), **{key.name: key for key in keys}}
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
    return _aliased(union.with_(_KNOWN, as_=known))


def _is_open(native: NativeClause) -> exp.Expr:
    """Whether a condition or measure of a row reads further rows than there are."""
    clause = native.clause
    if not clause.lookahead:
        return exp.false()
    offset = exp.Literal.number(clause.lookahead)
    behind = exp.Lead(this=exp.column(clause.time), offset=offset)
    return native.over(behind).is_(exp.null())


def _close(native: NativeClause, until: int) -> exp.Expr:
    """The watermark for the rows that are final by then, NULL for others."""
    undecided: exp.Expr = exp.column(UNDECIDED)
    place: exp.Expr = exp.column(MATCH)
    if native.clause.all_rows:  # an empty match has no last row, but is shown with its own
        undecided = exp.func("COALESCE", undecided, exp.column(OPEN))
    if native.clause.show_unmatched:
        place = exp.func("COALESCE", exp.column(START), exp.column(PLACE))
    first = exp.Min(this=exp.case().when(undecided.copy(), place.copy()))
    least = exp.Window(this=first, partition_by=native.keys or None, over="OVER")
    waits = exp.or_(undecided, exp.GTE(this=place, expression=least))
    return exp.case().when(waits, exp.null()).else_(timestamp(until, t.TIMESTAMPTZ))
