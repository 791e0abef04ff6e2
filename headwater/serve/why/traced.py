"""A query that also says, per row, which rows of its inputs decide that the row is there.

In: parts of a rendered SELECT at rest, whose inputs have a column :data:`WHY` with a number per
row. Out: SQL expressions that collect these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from headwater.algebra.scalars import conjuncts
from headwater.analyze.query_parts import is_over, union_branches
from headwater.plan.sql.render import READ

WHY = "__why"
"""Of an input, the number of a row; of a traced query, the numbers of the rows that decide."""
THERE = "__there"
"""Of a traced query with ghosts, whether a row is one of the query."""
NUMBERS = "BIGINT[]"
_OF_DUCKDB = {"ARG_MIN_NULL", "ARG_MAX_NULL", "QUANTILE_DISC"}
"""Aggregates that only DuckDB has."""


@dataclass(frozen=True, slots=True)
class Traced:
    """A query with a column :data:`WHY`.

    A row is in the query as long as the input rows that it names are there, whatever other input
    rows go. If the query was traced for what is absent, more holds: take some values of the stable
    columns. As long as all input rows are there that the rows with these values name, and those of
    ``rest``, the query has exactly the same rows with these values. Therefore it may have ghosts:
    rows that are not in the query, and could be if other input rows were gone.

    Attributes:
        query: the query.
        names: its columns without :data:`WHY` and :data:`THERE`.
        stable: the columns that no removal changes in a row.
        ghosts: whether it has a column :data:`THERE`.
        rest: lists of numbers that every row names in addition, as scalar subqueries.
    """

    query: exp.Query
    names: tuple[str, ...]
    stable: frozenset[str]
    ghosts: bool = False
    rest: tuple[exp.Expr, ...] = ()

    @property
    def shrinks(self) -> bool:
        """Whether fewer input rows never give it a row that it did not have."""
        return not self.ghosts and not self.rest and self.stable.issuperset(self.names)


def frozen(query: exp.Query) -> Traced:
    """Return a query of which every row names all rows that it reads: they decide together."""
    names = names_of(query)
    around = exp.select(*(exp.column(name, "__all") for name in names), named(none(), WHY))
    around = around.from_(query.copy().subquery("__all"))
    return Traced(around, names, frozenset(names), rest=everything(query))


def everything(*nodes: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return the numbers of all rows that some parts of a query read."""
    found: dict[str, exp.Expr] = {}
    for node in nodes:
        for item in reads(node):
            source = item.copy()
            source.set("alias", exp.TableAlias(this=exp.to_identifier("__read")))
            numbers = exp.select(listed(exp.column(WHY, "__read"))).from_(source)
            found[item.meta[READ] + source.sql("duckdb")] = exp.Subquery(this=numbers)
    return tuple(found.values())


def reads(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the FROM items that read an input."""
    return (each for each in node.walk() if READ in each.meta)


def names_of(query: exp.Query) -> tuple[str, ...]:
    """Return the names of the columns of a query."""
    return tuple(item.alias_or_name for item in union_branches(query)[0].selects)


def subqueries(node: exp.Expr | None) -> list[exp.Query]:
    """Return the outermost queries in an expression."""
    found: list[exp.Query] = []
    stack = [node] if node is not None else []
    while stack:
        each = stack.pop()
        if isinstance(each, exp.Query) and not isinstance(each, exp.Subquery):
            found.append(each)
        else:
            stack.extend(each.iter_expressions())
    return found


def aggregates(node: exp.Expr | None) -> list[exp.Expr]:
    """Return the aggregate calls in an expression of a rendered query."""
    found: list[exp.Expr] = []
    stack = [node] if node is not None else []
    while stack:
        each = stack.pop()
        if isinstance(each, (exp.Query, exp.WithinGroup)):
            continue
        of_duckdb = isinstance(each, exp.Anonymous) and each.name.upper() in _OF_DUCKDB
        if (isinstance(each, exp.AggFunc) or of_duckdb) and not is_over(each):
            found.append(each)
        stack.extend(each.iter_expressions())
    return found


def is_grouped(select: exp.Select) -> bool:
    """Return whether a SELECT of a rendered query groups or aggregates."""
    heads = [*select.selects, select.args.get("having")]
    return bool(select.args.get("group")) or any(map(aggregates, heads))


def none() -> exp.Expr:
    """Return an empty list of numbers."""
    return exp.cast(exp.Array(expressions=[]), NUMBERS)


def one(number: exp.Expr) -> exp.Expr:
    """Return the list of a number, NULL where an outer join has none."""
    there = exp.Not(this=exp.Is(this=number.copy(), expression=exp.null()))
    return exp.Case(ifs=[exp.If(this=there, true=exp.Array(expressions=[number.copy()]))])


def concat(terms: Sequence[exp.Expr]) -> exp.Expr:
    """Return the numbers of several lists; NULL counts as an empty one."""
    if not terms:
        return none()
    first, *others = (term.copy() for term in terms)
    for each in others:
        first = exp.Anonymous(this="list_concat", expressions=[first, each])
    return first


def listed(value: exp.Expr) -> exp.Expr:
    """Return the aggregate that lists a value."""
    return exp.Anonymous(this="list", expressions=[value.copy()])


def gathered(terms: Sequence[exp.Expr]) -> exp.Expr:
    """Return the numbers of a group, of those of its rows."""
    return exp.Anonymous(this="flatten", expressions=[listed(concat(terms))])


def named(value: exp.Expr, name: str) -> exp.Expr:
    """Return an output."""
    return exp.alias_(value, name)


def both(conditions: Sequence[exp.Expr]) -> exp.Expr:
    """Return whether all conditions are true; NULL is not."""
    terms = [exp.Paren(this=each.copy()) for each in conditions]
    return exp.Coalesce(this=exp.and_(*terms), expressions=[exp.false()])


def where_of(select: exp.Select) -> list[exp.Expr]:
    """Return the conditions of WHERE."""
    where = select.args.get("where")
    return conjuncts(where.this if where else None)
