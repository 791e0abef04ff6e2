"""A query of another system → a query in Headwater's dialect.

In: the words of the query. Out: a syntax tree in canonical form, and what differs. The text is
edited first, for words that no parser knows; then the tree is rewritten, by the rules that all
systems share and by the system's own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from headwater.dialect import Headwater, to_sql
from headwater.dialect.json_paths import read_json
from headwater.dialect.meanings.by_dialect import give_trinos_meaning
from headwater.dialect.normalize import normalize
from headwater.dialect.parser import BodyParser, body_parser
from headwater.dialect.position import offsets_of
from headwater.dialect.rows import name_fields
from headwater.dialect.syntax import DIALECT
from headwater.dialect.vocabulary import DialectError
from headwater.importing.contract import LeftOut, Note, RefusedCall
from headwater.importing.functions import NOTE, REFUSED
from headwater.importing.statements import Cursor, plain_name

_SURPRISES = (
    *(SqlglotError, RecursionError, AssertionError, AttributeError),
    *(IndexError, KeyError, TypeError, ValueError),
)


_FROM_ZERO = ("spark", "snowflake", "bigquery")
"""Dialects whose arrays begin at 0."""


@dataclass(slots=True)
class Body:
    """A query under way.

    Attributes:
        query: the tree.
        notes: what differs.
        marks: what the edits of the text took out of it, by name.
        clocks: columns that hold the clock, in its relations and in it.
    """

    query: exp.Query
    notes: list[Note] = field(default_factory=list)
    marks: dict[str, Any] = field(default_factory=dict)
    clocks: set[str] = field(default_factory=set)

    def remark(self, reason: str, remedy: str = "") -> None:
        """Add a note, once."""
        note = Note(reason, remedy)
        if note not in self.notes:
            self.notes.append(note)


class Edits:
    """Changes of a text that know where each place came from."""

    def __init__(self) -> None:
        self._edits: list[tuple[int, int, str]] = []

    def replace(self, start: int, end: int, text: str) -> None:
        """Put a text in the place of the characters between two offsets."""
        self._edits.append((start, end, text))

    def drop(self, part: Cursor) -> None:
        """Remove what a cursor covers."""
        start, end = part.bounds
        self._edits.append((start, end, ""))

    def apply(self, text: str, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
        """Return the changed part of a text, and where each of its pieces came from."""
        found, places, at = "", [(0, start)], start
        for first, last, new in sorted(self._edits):
            if not start <= first <= last <= end:
                continue
            found += text[at:first] + new
            at = last
            places.append((len(found), at))
        return found + text[at:end], places


@dataclass
class QueryScope:
    """What earlier statements say that later queries need.

    Attributes:
        names: by name there, in lower case, the name of an object in the project.
        clocks: by table or view, its columns that hold the clock.
        times: by table or view, the column of its event time.
        columns: by table or view, its columns, if they are known.
        streams: tables and views whose rows only come.
        base: tables that are read from outside.
        wanted: by table, metadata that queries read without its being declared.
    """

    names: dict[str, str] = field(default_factory=dict)
    clocks: dict[str, set[str]] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(default_factory=dict)
    streams: set[str] = field(default_factory=set)
    base: set[str] = field(default_factory=set)
    wanted: dict[str, set[str]] = field(default_factory=dict)

    def name_of(self, written: str) -> str:
        """Return the name in the project of an object by its name there."""
        parts = written.lower().split(".")
        known = (self.names.get(".".join(parts[at:])) for at in range(len(parts)))
        return next((each for each in known if each), plain_name(parts[-1]))


Edit = Callable[[Cursor, Edits, dict[str, Any]], None]
Rewrite = Callable[[Body, QueryScope], None]


@dataclass(frozen=True)
class Grammar:
    """How the queries of a system are read.

    Attributes:
        dialect: the sqlglot dialect of its words, or the name of one.
        body: the dialect of Headwater that gives its words their meaning.
        edits: change the text of a query before it is parsed, and remember what they took out.
        first: changes the tree before its words get their meaning.
        rewrites: change the tree of a query.
    """

    dialect: Any
    body: str = "trino"
    edits: Sequence[Edit] = ()
    first: Callable[[exp.Expr], None] | None = None
    rewrites: Sequence[Rewrite] = ()


@cache
def _parser(dialect: Any) -> BodyParser:  # noqa: ANN401
    if isinstance(dialect, str):
        return body_parser(dialect)
    return BodyParser(Dialect.get_or_raise(dialect))


def read_body(grammar: Grammar, scope: QueryScope, cursor: Cursor) -> Body:
    """Read the query at a cursor, up to the end.

    Args:
        grammar: the system's.
        scope: what was read before.
        cursor: at the first word of the query.

    Raises:
        LeftOut: it cannot be read, or holds what has no equal here.
    """
    body = _read(grammar, cursor)
    if not isinstance(body.query, exp.Query):
        raise LeftOut("this is no query", "write a SELECT", cursor.bounds[0])
    for rewrite in (*_REWRITES, *grammar.rewrites, _order):
        rewrite(body, scope)
    return body


def read_expression(grammar: Grammar, cursor: Cursor) -> str:
    """Turn an expression; see :func:`read_body`."""
    body = _read(grammar, cursor, lead="SELECT ")
    return to_sql(body.query.expressions[0].unalias(), pretty=False)


def read_values(grammar: Grammar, cursor: Cursor) -> list[exp.Expr]:
    """Read ``VALUES (…), …`` and return its rows."""
    body = _read(grammar, cursor, lead="SELECT * FROM (", tail=") AS t")
    values = body.query.find(exp.Values)
    return values.expressions if values else []


def _read(grammar: Grammar, cursor: Cursor, lead: str = "", tail: str = "") -> Body:
    """Edit and parse what a cursor covers, between two texts."""
    start, end = cursor.bounds
    edits, marks = Edits(), dict[str, Any]()
    for edit in grammar.edits:
        edit(Cursor(cursor.text, cursor.tokens[cursor.at :]), edits, marks)
    text, places = edits.apply(cursor.text, start, end)
    places = [(new + len(lead), old) for new, old in places]
    tree = _parsed(grammar, lead + text + tail, places)
    body = Body(tree, marks=marks)  # type: ignore[arg-type]
    _collect(body, places)
    return body


def _parsed(grammar: Grammar, text: str, places: list[tuple[int, int]]) -> exp.Expr:
    try:
        tree = _parser(grammar.dialect).parse(text, 0, len(text))
        while isinstance(tree, exp.Subquery) and tree.is_wrapper:
            tree = tree.this
        if grammar.first:
            grammar.first(tree)
        read_json(tree)
        give_trinos_meaning(tree, grammar.body)
        name_fields(tree, grammar.body)
        normalize(tree, Headwater.Tokenizer)
    except DialectError as error:
        at = _origin(error.start, places)
        raise LeftOut(f"{error.condition}: {error.message}", error.hint, at) from error
    except _SURPRISES as error:
        reason = "the query cannot be read"
        raise LeftOut(reason, "rewrite it in Trino's SQL", _origin(0, places)) from error
    return tree


def _origin(offset: int, places: list[tuple[int, int]]) -> int:
    """Return where a character of the edited text stands in the file."""
    new, old = places[max(0, bisect_right(places, (offset, 1 << 60)) - 1)]
    return max(0, old + offset - new)


def _collect(body: Body, places: list[tuple[int, int]]) -> None:
    """Gather what the builders of functions noted on their nodes."""
    for node in body.query.walk():
        if why := node.meta.get(REFUSED):
            assert isinstance(why, RefusedCall)
            found = offsets_of(node)
            at = _origin(found[0], places) if found else None
            raise LeftOut(why.reason, why.remedy, at)
        if note := node.meta.get(NOTE):
            body.remark(note)


# -- rewrites that all systems share


def _names(body: Body, scope: QueryScope) -> None:
    """Leave databases out of the names of tables, and give tables names that a project can have."""
    inner = {cte.alias for cte in body.query.find_all(exp.CTE)}
    for table in body.query.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        written = ".".join(part.name for part in table.parts)
        table.set("db", None)
        table.set("catalog", None)
        if table.name in inner and "." not in written:
            continue
        name = scope.name_of(written)
        if name != table.name and not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
        table.set("this", exp.to_identifier(name))
    for column in body.query.find_all(exp.Column):
        if column.args.get("catalog"):
            column.set("catalog", None)
            column.set("db", None)


_NO_NAME = (exp.Column, exp.Alias, exp.Star, exp.Dot, exp.Aliases)


def _column_names(body: Body, scope: QueryScope) -> None:
    """Name every column of a SELECT list, as PostgreSQL does."""
    for select in body.query.find_all(exp.Select):
        inside = isinstance(select.parent, exp.Exists | exp.In)
        taken = {each.alias_or_name for each in select.expressions}
        for item in list(select.expressions) if not inside else ():
            if isinstance(item, _NO_NAME):
                continue
            base, number = _default_name(item), 2
            name = base
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            taken.add(name)
            item.replace(exp.alias_(item.copy(), name))


def _default_name(node: exp.Expr) -> str:
    inner = node.unnest()
    while isinstance(inner, exp.Cast | exp.Window | exp.Filter | exp.WithinGroup):
        inner = inner.this
    if isinstance(inner, exp.Column):
        return inner.name
    if isinstance(inner, exp.Anonymous):
        return plain_name(inner.name)
    if isinstance(inner, exp.Func) and not isinstance(inner, exp.Connector | exp.Case):
        return plain_name(inner.sql_name().lower())
    return "case" if isinstance(inner, exp.Case) else "column"


def _order(body: Body, scope: QueryScope) -> None:
    """Leave out an order without LIMIT: the rows of a table have none."""
    query = body.query
    for each in query.find_all(exp.Query):
        fetch = each.args.get("limit")
        if isinstance(fetch, exp.Fetch) and fetch.args.get("count"):
            each.set("limit", exp.Limit(expression=fetch.args["count"].copy()))
    if query.args.get("order") and not query.args.get("limit"):
        query.set("order", None)
        body.remark("ORDER BY is left out: rows of a table have no order", "order when you read")


_SMALL = (exp.DType.TINYINT, exp.DType.SMALLINT)
_TEXTS = (exp.DType.VARCHAR, exp.DType.CHAR, exp.DType.JSON, exp.DType.JSONB)
_UNSIZED = (exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ)


def _types(body: Body, scope: QueryScope) -> None:
    """Write the types that there are: text without a length, times without digits."""
    for kind in body.query.find_all(exp.DataType):
        literal = isinstance(kind.parent, exp.Cast) and kind.parent.this.is_string
        if kind.this in _SMALL:
            kind.set("this", exp.DType.INT)
        elif kind.this in _TEXTS:
            kind.set("this", exp.DType.VARCHAR)
            kind.set("expressions", [])
        elif kind.this in _UNSIZED and not literal:
            kind.set("expressions", [])


def _fields(body: Body, scope: QueryScope) -> None:
    """Write ``(a).b`` as ``a.b``, with the field's name."""
    for dot in list(body.query.find_all(exp.Dot)):
        inner = dot.this
        if isinstance(inner, exp.Paren) and isinstance(inner.this, exp.Column):
            dot.set("this", inner.this.copy())
        if isinstance(dot.parent, exp.Select):
            dot.replace(exp.alias_(dot.copy(), dot.expression.name))


def _elements(body: Body, scope: QueryScope) -> None:
    """Write ``a[1]`` as ``element_at(a, 1)``, which is NULL if there is none."""
    for node in list(body.query.find_all(exp.Bracket)):
        index = node.expressions[0] if len(node.expressions) == 1 else None
        if index is None or isinstance(index, exp.Slice):
            continue
        from_zero = node.meta.get(DIALECT) in _FROM_ZERO  # a literal has Trino's place already
        if from_zero and not index.is_string:
            index = exp.Add(this=exp.paren(index.copy()), expression=exp.Literal.number(1))
        node.replace(exp.Anonymous(this="element_at", expressions=[node.this.copy(), index.copy()]))


_REWRITES = (_names, _column_names, _types, _fields, _elements)
