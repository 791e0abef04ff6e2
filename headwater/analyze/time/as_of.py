"""As-of joins → joins with the time during which each version holds.

In: a join with ``FOR SYSTEM_TIME AS OF``, or an ``ASOF JOIN``, whose sides are bound. Out: the same
rows from a plain join. Its right side is a subquery that gives each version the time of the next
one of its key; a row meets the version that holds at its time. Of versions of one time the last
one holds: by its place in the log of a keyed table, else by its arrival, else by its values. The
versions of a keyed table are the changes in its log; a deletion holds no time at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.algebra.scalars import conjunction, conjuncts
from headwater.analyze.definitions import ARRIVAL_COLUMN, Catalog, Field, Source
from headwater.analyze.diagnostics import Diagnostics
from headwater.analyze.inference.infer import infer
from headwater.analyze.names.ordering import has_no_order, is_comparable
from headwater.analyze.names.scope import NULLABLE, Relation, column_of
from headwater.analyze.time.finality import relation_times
from headwater.analyze.time.keyed_versions import history, is_held, log_of, untold
from headwater.analyze.time.versions import AS_OF, UNTIL, version_of
from headwater.analyze.typing import types as t
from headwater.analyze.typing.common_type import named, type_of
from headwater.analyze.typing.determinism import NODES, REFUSED
from headwater.dialect.position import offsets_of

_FLIPPED: Mapping[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE,
}  # fmt: skip
_FORM = "write ON t.k = q.k AND t.ts >= q.ts"
_CLOCK = "write FOR SYSTEM_TIME AS OF t.ts, with the event time of the row on the left"


@dataclass(slots=True)
class AsOfJoin:
    """An as-of join on its way to a plain one.

    Attributes:
        join: the join; it is changed in place.
        catalog: where its tables are defined.
        report: where errors go.
        moment: the time of ``AS OF``, or the comparison of ``MATCH_CONDITION``; None for
            ``ON … >= …``.
        by_system: whether it is asked by ``FOR SYSTEM_TIME``, which names no column of the version.
        sound: whether it has no error so far.
    """

    join: exp.Join
    catalog: Catalog
    report: Diagnostics
    moment: exp.Expr | None = None
    by_system: bool = False
    sound: bool = True

    def take(self) -> None:
        """Take what the join as parsed says of time off it, and make it a plain join."""
        join = self.join
        version, match = version_of(join), join.args.get("match_condition")
        words = "JOIN FOR SYSTEM_TIME AS OF" if version is not None else "JOIN"
        kind = " ".join(filter(None, (join.method, join.side, join.kind, words)))
        if join.side not in ("", "LEFT") or join.kind not in ("", "INNER", "OUTER"):
            hint = "write an inner join or a LEFT JOIN"
            self._refuse(f"an as-of join has no form {kind}", join.this, hint)
        elif version is not None and join.method:
            hint = "write one of the two: FOR SYSTEM_TIME AS OF, or ASOF JOIN"
            self._refuse("an as-of join says its time twice", join.this, hint)
        if match is not None and not join.side and not join.kind:
            join.set("side", "LEFT")  # Snowflake keeps rows without a match
        join.set("kind", None)
        for key in ("method", "match_condition"):
            join.set(key, None)
        self.moment = match
        if version is not None:
            join.this.set("version", None)
            self.moment, self.by_system = version.expression, True
            self._check_moment(version.expression)

    def _check_moment(self, moment: exp.Expr) -> None:
        """Refuse to look a version up by the clock, or at a fixed time."""
        calls = moment.find_all(exp.Anonymous, *NODES)
        names = (NODES.get(type(call)) or call.name.lower() for call in calls)
        at = moment if offsets_of(moment) else self.join.this
        if clock := next((name for name in names if name in REFUSED), None):
            message = f"AS OF {clock.upper()} is refused: {REFUSED[clock].reason}"
            self._refuse(message, at, _CLOCK, "NON_DETERMINISTIC")
        elif not moment.find(exp.Column):
            message = "AS OF a constant is refused: every row would meet one version"
            self._refuse(message, at, _CLOCK)

    def compare(self, right: Relation) -> None:
        """Add the comparison of times to ON, where it does not stand yet.

        Args:
            right: its bound right side.
        """
        if self.moment is None or not self.sound:
            return
        moment, at = self.moment, self.moment.meta
        if self.by_system:
            log = log_of(right, self.catalog)
            if log is not None and (why := untold(log, right.node.name)):
                condition, message, hint = why
                self._refuse(message, right.node, hint, condition)
                return
            times = [*relation_times(exp.to_table(log.name) if log else right.node, self.catalog)]
            if len(times) != 1:
                self._refuse(*_no_time(right, times))
                return
            moment = exp.GTE(this=moment, expression=exp.column(times[0], table=right.alias))
            moment.meta.update(at)
        on = self.join.args.get("on")
        self.join.set("on", moment if on is None else exp.and_(on, moment, copy=False))

    def versions(self, right: Relation) -> exp.Subquery | None:
        """Return what stands for the right side, None after an error; set ON.

        Args:
            right: its bound right side; ON is resolved and typed.
        """
        if not self.sound:
            return None
        terms = [_sided(term, right.alias) for term in conjuncts(self.join.args.get("on"))]
        times = [term for term in terms if isinstance(term, tuple(_FLIPPED))]
        keys = [term for term in terms if type(term) is exp.EQ]
        known = self._check_terms(terms, right)
        if not (known and self._check_times(times) and self._check_keys(keys)):
            return None
        (comparison,) = times
        time = comparison.expression
        by = [key.expression for key in keys]
        log = log_of(right, self.catalog)
        named = [column for key in by for column in key.find_all(exp.Column)]
        if log is not None and not self.by_system and not _keyed_by(log.primary_key, named):
            log = None  # its rows are versions of something else
        if log is not None and not self._check_history(right, log, by, time):
            return None
        found = _subquery(right, log, by, time, self.catalog, self.report)
        until = exp.column(UNTIL, table=right.alias)
        until.type, until.meta[NULLABLE] = type_of(time).copy(), True
        before = exp.LT if isinstance(comparison, exp.GTE) else exp.LTE
        still = exp.Or(
            this=before(this=comparison.this.copy(), expression=until),
            expression=exp.Is(this=until.copy(), expression=exp.Null()),
        )
        infer(still, self.report)
        self.join.set("on", conjunction([*keys, comparison, still]))
        return found

    def _check_terms(self, terms: Sequence[exp.Expr], right: Relation) -> bool:
        hint = f"put it into WHERE, or join a subquery: ASOF JOIN (SELECT … WHERE …) {right.alias}"
        for term in terms:
            sides = [_tables(side) for side in _sides(term)] if _compares(term) else []
            apart = len(sides) == 2 and right.alias not in sides[0] and sides[1] == {right.alias}
            if not apart or not sides[0]:
                message = "an as-of join compares keys by = and one time, and nothing else"
                self._refuse(message, term, hint)
        return self.sound

    def _check_times(self, times: Sequence[exp.Expr]) -> bool:
        if len(times) != 1:
            there = f"there are {len(times)}" if times else "there is none"
            message = f"an as-of join compares one time, and {there}"
            self._refuse(message, times[1] if times else self.join.this, _FORM)
            return False
        (time,) = times
        version, kind = time.expression, type_of(time.expression)
        if isinstance(time, (exp.LT, exp.LTE)):
            message = "an as-of join looks back, and this compares with what comes later"
            self._refuse(message, time, _FORM)
        elif not isinstance(version, exp.Column):
            message = "the time of a version must be a column, of the type of the row's time"
            self._refuse(message, version, "write the rest on the side of the row")
        elif t.family(kind) not in ("time", "unknown"):
            message = f"{t.sql_type(kind)} is no time of a version"
            self._refuse(message, version, "compare times: t.ts >= q.ts", "TYPE_CLASH")
        return self.sound

    def _check_keys(self, keys: Sequence[exp.Expr]) -> bool:
        if not keys:
            message = "an as-of join has no key: every row would meet versions of everything"
            self._refuse(message, self.join.this, "add an equality: ON t.k = q.k")
        for key in keys:
            kind = type_of(key.expression)
            if t.is_float(kind) or (has_no_order(key.expression) and not t.is_unknown(kind)):
                message = f"{t.sql_type(kind)} cannot be the key of an as-of join"
                hint = "cast both sides to a type with exact equality: CAST(x AS DECIMAL(18, 3))"
                self._refuse(message, key, hint, "TYPE_CLASH")
        return self.sound

    def _check_history(
        self, right: Relation, log: Source, keys: Sequence[exp.Expr], time: exp.Expr
    ) -> bool:
        """Refuse what is no version of the row of a key."""
        table = right.node.name
        if why := untold(log, table):
            condition, message, hint = why
            self._refuse(message, right.node, hint, condition)
        elif log.watermark and time.name != log.watermark.column:
            message = f'a version of "{table}" begins at its "{log.watermark.column}"'
            hint = f"compare with {right.alias}.{log.watermark.column}"
            self._refuse(message, time, hint)
        elif not _keyed_by(log.primary_key, keys) or len(keys) != len(log.primary_key):
            message = f'the key of a version of "{table}" is ({", ".join(log.primary_key)})'
            equal = " AND ".join(f"t.{key} = {right.alias}.{key}" for key in log.primary_key)
            self._refuse(message, keys[0], f"write ON {equal}, and the rest into WHERE")
        return self.sound

    def _refuse(
        self, message: str, at: exp.Expr, hint: str, condition: str = "UNSUPPORTED_SYNTAX"
    ) -> None:
        self.sound = False
        self.report.add(condition, message, at, hint)


def _no_time(right: Relation, times: Sequence[str]) -> tuple[str, exp.Expr, str]:
    """Say why nothing tells the time of a version."""
    name, alias = right.node.name or right.alias, right.alias
    many = f"{len(times)} event times" if times else "no event time"
    message = f'AS OF needs the time of each version, and "{name}" has {many}'
    named = name if name == alias else f"{name} {alias}"
    hint = f"name it: ASOF JOIN {named} ON t.k = {alias}.k AND t.ts >= {alias}.ts"
    return message, right.node, hint


def _keyed_by(primary_key: Sequence[str], keys: Sequence[exp.Expr]) -> bool:
    """Return whether columns that are compared tell one row of a keyed table."""
    return {*primary_key} <= {key.name for key in keys if isinstance(key, exp.Column)}


def _sided(term: exp.Expr, alias: str) -> exp.Expr:
    """A comparison of the left side with the right one, in this order; others as they are."""
    if _compares(term) and _tables(term.this) == {alias} and alias not in _tables(term.expression):
        kind = _FLIPPED.get(type(term), type(term))
        turned = kind(this=term.expression, expression=term.this)
        turned.type = term.type
        turned.meta.update(term.meta)
        return turned
    return term


def _compares(term: exp.Expr) -> bool:
    return isinstance(term, (exp.EQ, *_FLIPPED)) and not term.find(exp.Query)


def _tables(node: exp.Expr) -> set[str]:
    return {column.table for column in node.find_all(exp.Column)}


def _sides(term: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return term.this, term.expression


def _subquery(
    right: Relation,
    log: Source | None,
    keys: Sequence[exp.Expr],
    time: exp.Expr,
    catalog: Catalog,
    report: Diagnostics,
) -> exp.Subquery:
    """The versions of a relation, each with the time of the next one of its key.

    Args:
        log: the log that has them, if the relation is a keyed table.
    """
    right = history(right, log, report) if log else right
    columns = [column_of(right.alias, field) for field in right.fields.values()]
    by = [key.copy() for key in keys]
    ties = _order(right, log, columns, catalog, report)
    ties = [tie for tie in ties if tie not in (time, *by)]
    order = exp.Order(expressions=[_ascending(time), *map(_ascending, ties)])
    next_time = exp.Lead(this=time.copy())
    until: exp.Expr = exp.Window(this=next_time, partition_by=by, order=order, over="OVER")
    if log:
        until = exp.Case().when(is_held(right.alias), until).else_(time.copy())
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
    right: Relation,
    log: Source | None,
    columns: Sequence[exp.Column],
    catalog: Catalog,
    report: Diagnostics,
) -> list[exp.Column]:
    """What orders the versions of one time."""
    plain = isinstance(right.node, exp.Table) and isinstance(right.node.this, exp.Identifier)
    source = log or (catalog.sources.get(right.node.name) if plain else None)
    if source is not None and source.is_changes:
        return [column_of(right.alias, field) for field in source.position]
    for column in columns:
        if has_no_order(column):
            kind, hint = t.sql_type(type_of(column)), "join a subquery that leaves it out"
            message = f'versions that tie can differ in "{column.name}", and {kind} has no order'
            report.add("NON_DETERMINISTIC", message, right.node, hint)
    arrival = column_of(right.alias, Field(ARRIVAL_COLUMN, t.TIMESTAMPTZ))
    first = [arrival] if source is not None and source.landed else []
    return [column for column in (*first, *columns) if is_comparable(column)]


def _ascending(column: exp.Expr) -> exp.Ordered:
    return exp.Ordered(this=column.copy(), desc=False, nulls_first=False)
