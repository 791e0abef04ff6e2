"""Subqueries over the elements of an array of the outer query → functions over that array.

In: a query as parsed. Out: the same values::

    EXISTS (SELECT 1 FROM UNNEST(xs) AS t (x) WHERE x > 3)
      coalesce(cardinality(filter(xs, x -> x > 3)), 0) > 0
    v IN (SELECT x FROM UNNEST(xs) AS t (x))
      coalesce(cardinality(xs), 0) > 0 AND contains(xs, v)
    (SELECT max(x) FROM UNNEST(xs) AS t (x))
      array_max(filter(xs, x -> x IS NOT NULL))
    LATERAL (SELECT count(*) AS n FROM UNNEST(xs) AS t (x))
      LATERAL (SELECT coalesce(cardinality(xs), 0) AS n)

The elements of one row are the rows of such a subquery: it needs no join.
"""

from __future__ import annotations

from sqlglot import exp

from headwater.analyze.names.function_names import read_names
from headwater.dialect.syntax import OneColumn

_ELSE = (
    "joins",
    "laterals",
    "group",
    "having",
    "qualify",
    "windows",
    "distinct",
    "limit",
    "offset",
)
"""Clauses of a subquery that a function over an array has no place for."""
_PARTS = (exp.Query, exp.AggFunc, exp.Window, exp.Lambda)


def without_unnested_subqueries(query: exp.Query) -> None:
    """Replace subqueries that read nothing but an array of the outer query, in place."""
    for select in reversed(list(query.find_all(exp.Select))):
        around = select.parent
        if around is None or not _reads_an_array(select):
            continue
        if isinstance(around, exp.Subquery) and isinstance(around.parent, exp.In):
            around = around.parent
        if isinstance(around.parent, exp.Lateral):
            _without_from(select)
        elif found := _value(around, select):
            around.replace(_read(exp.paren(found, copy=False)))


def _without_from(select: exp.Select) -> None:
    """Compute the outputs of LATERAL of the array itself, in place, if all of them can be."""
    found = [(each, _aggregated(each.unalias(), select)) for each in select.expressions]
    if any(value is None for _, value in found):
        return
    for output, value in found:
        assert value is not None
        output.unalias().replace(_read(exp.paren(value, copy=False)))
    select.set("from_", None)
    select.set("where", None)


def _read(value: exp.Expr) -> exp.Expr:
    """A value whose calls by name are nodes of the table of functions."""
    holder = exp.Select(expressions=[value])
    read_names(holder, internal=True)
    found: exp.Expr = holder.expressions[0].pop()
    return found


def _value(around: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """What takes the place of a subquery, with EXISTS or IN; None if nothing does."""
    grouped = any(each.find(exp.AggFunc) for each in select.expressions)
    if isinstance(around, exp.Exists):
        return None if grouped else _any(_elements(select))
    if isinstance(around, exp.In):
        return None if grouped else _member(around.this, select)
    in_from = isinstance(around.parent, (exp.From, exp.Join))
    if not isinstance(around, exp.Subquery) or in_from or len(select.expressions) != 1:
        return None
    return _aggregated(select.expressions[0].unalias(), select)


def _reads_an_array(select: exp.Select) -> bool:
    """Return whether FROM is one array of a column, whose elements have one name."""
    clause = select.args.get("from_")
    rows = clause.this if clause is not None else None
    if not isinstance(rows, exp.Unnest) or any(map(select.args.get, _ELSE)):
        return False
    alias, arrays = rows.args.get("alias"), rows.expressions
    named = alias is not None and len(alias.columns) == 1 and len(arrays) == 1
    where = select.args.get("where")
    plain = not any(each.find(*_PARTS) for each in (*arrays, *([where] if where else [])))
    return bool(named and plain and not rows.args.get("offset") and arrays[0].find(exp.Column))


def _elements(select: exp.Select) -> exp.Expr:
    """The elements that are rows of a subquery."""
    array = OneColumn(this=select.args["from_"].this.expressions[0].copy())
    where = select.args.get("where")
    return array if where is None else _called("filter", array, _lambda(select, where.this))


def _lambda(select: exp.Select, body: exp.Expr) -> exp.Lambda:
    """A value that is computed of the element of a subquery, as a lambda."""
    alias = select.args["from_"].this.args["alias"]
    name = alias.columns[0].name
    root = exp.Paren(this=body.copy())
    for column in list(root.find_all(exp.Column)):
        if column.name == name and column.table in ("", alias.name):
            column.replace(exp.to_identifier(name))
        elif column.table == name != alias.name:
            field = exp.to_identifier(column.name, quoted=column.this.quoted)
            column.replace(exp.Dot(this=exp.to_identifier(name), expression=field))
    return exp.Lambda(this=root.this.pop(), expressions=[exp.to_identifier(name)])


def _any(elements: exp.Expr) -> exp.Expr:
    return exp.GT(this=_count(elements), expression=exp.Literal.number(0))


def _count(elements: exp.Expr) -> exp.Expr:
    """How many elements there are; none of an array that is NULL."""
    return exp.Coalesce(this=exp.ArraySize(this=elements), expressions=[exp.Literal.number(0)])


def _member(value: exp.Expr, select: exp.Select) -> exp.Expr | None:
    if len(select.expressions) != 1 or select.expressions[0].find(*_PARTS):
        return None
    among = _values(select, select.expressions[0].unalias())
    contained = exp.ArrayContains(this=among.copy(), expression=value.copy())
    return exp.And(this=_any(among), expression=contained)


def _values(select: exp.Select, value: exp.Expr) -> exp.Expr:
    """What a subquery computes of each of its elements."""
    found = _lambda(select, value)
    elements = _elements(select)
    is_element = isinstance(found.this, exp.Identifier)
    return elements if is_element else _called("transform", elements, found)


def _aggregated(call: exp.Expr, select: exp.Select) -> exp.Expr | None:
    """The value of an aggregate of a subquery; None if no function over an array has it."""
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return _count(_elements(select))
    if not isinstance(call, (exp.Count, exp.Max, exp.Min)) or call.expressions:
        return None
    value = call.this
    distinct = isinstance(value, exp.Distinct)
    if distinct:
        value = value.expressions[0] if len(value.expressions) == 1 else None
    if value is None or value.find(*_PARTS):
        return None
    given = _given(_values(select, value))
    if isinstance(call, exp.Count):
        return _count(_called("array_distinct", given) if distinct else given)
    return _called("array_max" if isinstance(call, exp.Max) else "array_min", given)


def _given(values: exp.Expr) -> exp.Expr:
    """The elements of an array that are not NULL."""
    each = exp.to_identifier("x")
    there = exp.Not(this=exp.Is(this=each, expression=exp.Null()))
    return _called("filter", values, exp.Lambda(this=there, expressions=[each.copy()]))


def _called(name: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[*arguments])
