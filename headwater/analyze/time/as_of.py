"""As-of joins → joins with the time during which each version holds.

In: a join with ``FOR SYSTEM_TIME AS OF``, or an ``ASOF JOIN``, whose sides are bound. Out: the same
rows from a plain join. Its right side is a subquery that gives each version the time of the next
one of its key; a row meets the version that holds at its time. Of versions of one time the last
one holds: by its place in the log of a keyed table, else by its arrival, else by its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from headwater.analyze.bind.join_conditions import conjunction
from headwater.analyze.bind.ordering import has_no_order, is_comparable, refuse_ties
from headwater.analyze.bind.scope import NULLABLE, Relation
from headwater.analyze.definitions import ARRIVAL_COLUMN, Catalog, Field
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.query_parts import conjuncts
from headwater.analyze.rules.determinism import NODES, REFUSED
from headwater.analyze.time.finality import relation_times
from headwater.analyze.time.versions import AS_OF, UNTIL, version_of
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.analyze.typing.infer import infer

_FLIPPED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip
_FORM = "write ON t.k = q.k AND t.ts >= q.ts"
_CLOCK = "write FOR SYSTEM_TIME AS OF t.ts, with the event time of the row on the left"


def take_moment(join: exp.Join, report: Diagnostics) -> exp.Expr | None:
    """Take what a join as parsed says of time off it, and make it a plain join.

    Returns:
        The time of ``AS OF``, or the comparison of ``MATCH_CONDITION``; None for ``ON … >= …``.
    """
    version, match = version_of(join), join.args.get("match_condition")
    if match is not None and not join.side and not join.kind:
        join.set("side", "LEFT")  # Snowflake keeps rows without a match
    if join.kind in ("INNER", "OUTER"):
        join.set("kind", None)
    for key in ("method", "match_condition"):
        join.set(key, None)
    if version is None:
        return match
    join.this.set("version", None)
    moment: exp.Expr = version.expression
    _check_moment(moment, report)
    return moment


def _check_moment(moment: exp.Expr, report: Diagnostics) -> None:
    """Refuse to look a version up by the clock, or at a fixed time."""
    names = (NODES.get(type(node)) or node.name.lower() for node in moment.walk())
    if clock := next((name for name in names if name in REFUSED), None):
        message = f"AS OF {clock.upper()} is refused: {REFUSED[clock].reason}"
        report.add("NON_DETERMINISTIC", message, moment, _CLOCK)
    elif not moment.find(exp.Column):
        message = "AS OF a constant: every row would meet one version"
        report.add("UNSUPPORTED_SYNTAX", message, moment, _CLOCK)


def condition_of(
    join: exp.Join, moment: exp.Expr | None, right: Relation, catalog: Catalog, report: Diagnostics
) -> None:
    """Add the comparison of times to ON.

    Args:
        join: a plain join by now.
        moment: what :func:`take_moment` found.
        right: its bound right side.
    """
    if moment is None:
        return
    if not isinstance(moment, tuple(_FLIPPED)):
        times = [*relation_times(right.node, catalog)]
        if len(times) != 1:
            have = "no event time" if not times else f"{len(times)} event times"
            message = f"AS OF needs the time of each version, and {right.alias} has {have}"
            hint = "declare WATERMARK FOR ts AS … in it, or write ASOF JOIN … MATCH_CONDITION"
            report.add("UNSUPPORTED_SYNTAX", message, right.node, hint)
            return
        place = moment.meta
        moment = exp.GTE(this=moment, expression=exp.column(times[0], table=right.alias))
        moment.meta.update(place)
    on = join.args.get("on")
    join.set("on", moment if on is None else exp.and_(on, moment, copy=False))


def versions(
    join: exp.Join, right: Relation, catalog: Catalog, report: Diagnostics
) -> exp.Subquery | None:
    """Return what stands for the right side of an as-of join, None after an error; set its ON.

    Args:
        join: its ON is resolved and typed.
        right: its bound right side.
    """
    errors = len(report.errors)
    terms = [_sided(term, right.alias) for term in conjuncts(join.args.get("on"))]
    times = [term for term in terms if isinstance(term, tuple(_FLIPPED))]
    keys = [term for term in terms if type(term) is exp.EQ]
    _check_terms(join, terms, keys, times, right, report)
    if len(report.errors) > errors:
        return None
    (comparison,) = times
    time = comparison.expression
    found = _subquery(right, [key.expression for key in keys], time, catalog, report)
    until = exp.column(UNTIL, table=right.alias)
    until.type, until.meta[NULLABLE] = type_of(time).copy(), True
    before = exp.LT if isinstance(comparison, exp.GTE) else exp.LTE
    still = exp.Or(
        this=before(this=comparison.this.copy(), expression=until),
        expression=exp.Is(this=until.copy(), expression=exp.Null()),
    )
    infer(still, report)
    join.set("on", conjunction([*keys, comparison, still]))
    return found


def _sided(term: exp.Expr, alias: str) -> exp.Expr:
    """A comparison of the left side with the right one, in this order; others as they are."""
    if not isinstance(term, (exp.EQ, *_FLIPPED)):
        return term
    left, right = ({c.table for c in side.find_all(exp.Column)} for side in _sides(term))
    if left == {alias} and right and alias not in right:
        kind = _FLIPPED.get(type(term), type(term))
        turned = kind(this=term.expression, expression=term.this)
        turned.type = term.type
        turned.meta.update(term.meta)
        return turned
    return term


def _sides(term: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return term.this, term.expression


def _check_terms(
    join: exp.Join,
    terms: Sequence[exp.Expr],
    keys: Sequence[exp.Expr],
    times: Sequence[exp.Expr],
    right: Relation,
    report: Diagnostics,
) -> None:
    hint = f"put it into WHERE, or join a subquery: ASOF JOIN (SELECT … WHERE …) {right.alias}"
    for term in terms:
        sides = [{c.table for c in side.find_all(exp.Column)} for side in _two(term)]
        apart = len(sides) == 2 and right.alias not in sides[0] and sides[1] == {right.alias}
        if (term not in keys and term not in times) or not apart or not sides[0]:
            message = "an as-of join compares keys by = and one time, the row's on the left"
            report.add("UNSUPPORTED_SYNTAX", message, term, hint)
    if len(times) != 1:
        message = f"an as-of join compares one time, not {len(times)}"
        report.add("UNSUPPORTED_SYNTAX", message, times[1] if times else join.this, _FORM)
    elif isinstance(times[0], (exp.LT, exp.LTE)):
        message = "an as-of join looks back: a version after the row is not known when it comes"
        report.add("UNSUPPORTED_SYNTAX", message, times[0], _FORM)
    elif not isinstance(times[0].expression, exp.Column):
        message = "the time of a version must be a column"
        report.add("UNSUPPORTED_SYNTAX", message, times[0].expression, "move the rest to the left")
    elif t.family(type_of(times[0].expression)) not in ("time", "unknown"):
        message = f"{t.sql_type(type_of(times[0].expression))} is no time of a version"
        report.add("TYPE_CLASH", message, times[0].expression, "compare times: t.ts >= q.ts")
    if not keys:
        message = "an as-of join has no key: every row would be compared with every version"
        report.add("UNSUPPORTED_SYNTAX", message, join.this, "add an equality: ON t.k = q.k")
    for key in keys:
        kind = type_of(key.expression)
        if t.is_float(kind) or (has_no_order(key.expression) and not t.is_unknown(kind)):
            message = f"{t.sql_type(kind)} cannot be the key of an as-of join"
            report.add("TYPE_CLASH", message, key, "cast both sides: CAST(x AS DECIMAL(18, 3))")


def _two(term: exp.Expr) -> tuple[exp.Expr, ...]:
    return _sides(term) if isinstance(term, exp.Binary) else ()


def _subquery(
    right: Relation,
    keys: Sequence[exp.Expr],
    time: exp.Expr,
    catalog: Catalog,
    report: Diagnostics,
) -> exp.Subquery:
    """The versions of a relation, each with the time of the next one of its key."""
    columns = [_column(right.alias, field) for field in right.fields.values()]
    by = [key.copy() for key in keys]
    ties = [tie for tie in _order(right, columns, catalog, report) if tie not in (time, *by)]
    order = exp.Order(expressions=[_ascending(time), *map(_ascending, ties)])
    until = exp.Window(
        this=exp.Lead(this=time.copy()), partition_by=by, order=order, over="OVER"
    )
    infer(until, report)
    select = exp.Select(
        expressions=[*(named(column, column.name) for column in columns), named(until, UNTIL)],
        from_=exp.From(this=right.node.copy()),
        where=exp.Where(this=time.copy().is_(exp.null()).not_()),
    )
    infer(select.args["where"].this, report)
    name = exp.TableAlias(this=exp.to_identifier(right.alias))
    found = exp.Subquery(this=select, alias=name)
    found.meta[AS_OF] = time.name
    return found


def _order(
    right: Relation, columns: Sequence[exp.Column], catalog: Catalog, report: Diagnostics
) -> list[exp.Column]:
    """What orders the versions of one time."""
    plain = isinstance(right.node, exp.Table) and isinstance(right.node.this, exp.Identifier)
    source = catalog.sources.get(right.node.name) if plain else None
    if source is not None and source.is_changes:
        return [_column(right.alias, field) for field in source.position]
    for column in columns:
        if has_no_order(column):
            hint = "join a subquery that leaves it out"
            refuse_ties(column, hint, report)
    arrival = _column(right.alias, Field(ARRIVAL_COLUMN, t.TIMESTAMPTZ))
    first = [arrival] if source is not None and source.landed else []
    return [column for column in (*first, *columns) if is_comparable(column)]


def _ascending(column: exp.Expr) -> exp.Ordered:
    return exp.Ordered(this=column.copy(), desc=False, nulls_first=False)


def _column(alias: str, field: Field) -> exp.Column:
    column = exp.column(field.name, table=alias)
    column.type = field.type.copy()
    column.meta[NULLABLE] = field.nullable
    return column
