"""A query of another system → a query in Headwater's dialect.

In: the words of the query. Out: a syntax tree in canonical form, and what differs. The text is
edited first, for words that no parser knows; then the tree is rewritten by the passes that all
systems share and by the system's own.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from headwater.dialect import Headwater
from headwater.dialect.json_paths import paths_as_text
from headwater.dialect.meanings import give_trinos_meaning
from headwater.dialect.normalize import normalize
from headwater.dialect.parser import BodyParser
from headwater.dialect.position import offsets_of
from headwater.dialect.vocabulary import DialectError
from headwater.importing.contract import LeftOut, Note, Refused
from headwater.importing.functions import NOTE, REFUSED
from headwater.importing.statements import Cursor, plain_name

if TYPE_CHECKING:
    from headwater.importing.run import Run

_SURPRISES = (
    *(SqlglotError, RecursionError, AssertionError, AttributeError),
    *(IndexError, KeyError, TypeError, ValueError),
)


@dataclass(slots=True)
class Body:
    """A query under way.

    Attributes:
        query: the tree.
        notes: what differs.
        marks: what the edits of the text took out of it, by name.
    """

    query: exp.Query
    notes: list[Note] = field(default_factory=list)
    marks: dict[str, Any] = field(default_factory=dict)

    def note(self, reason: str, remedy: str = "") -> None:
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


@cache
def _parser(dialect: Any) -> BodyParser:  # noqa: ANN401
    return BodyParser(Dialect.get_or_raise(dialect))


def read_body(run: Run, cursor: Cursor) -> Body:
    """Read the query at a cursor, up to the end.

    Args:
        run: knows the system and what was read before.
        cursor: at the first word of the query.

    Raises:
        LeftOut: it cannot be read, or holds what has no equal here.
    """
    edits, marks = Edits(), dict[str, Any]()
    start, end = cursor.bounds
    for edit in run.system.edits:
        edit(Cursor(cursor.text, cursor.tokens, cursor.at), edits, marks)
    text, places = edits.apply(cursor.text, start, end)
    tree = _parsed(run, text, places)
    if not isinstance(tree, exp.Query):
        raise LeftOut("this is no query", "write a SELECT", start)
    body = Body(tree, marks=marks)
    _collect(body, places)
    for rewrite in (*_PASSES, *run.system.passes):
        rewrite(body, run)
    return body


def read_expression(run: Run, cursor: Cursor) -> str:
    """Turn an expression; see :func:`read_body`."""
    from headwater.dialect import to_sql

    start, end = cursor.bounds
    edits, marks = Edits(), dict[str, Any]()
    for edit in run.system.edits:
        edit(Cursor(cursor.text, cursor.tokens, cursor.at), edits, marks)
    text, places = edits.apply(cursor.text, start, end)
    lead = "SELECT "
    tree = _parsed(run, lead + text, [(0, start - len(lead)), *places[1:]])
    body = Body(tree)  # type: ignore[arg-type]
    _collect(body, places)
    return to_sql(body.query.expressions[0].unalias(), pretty=False)


def _parsed(run: Run, text: str, places: list[tuple[int, int]]) -> exp.Expr:
    parser = _parser(run.system.dialect)
    try:
        tree = parser.parse(text, 0, len(text))
        while isinstance(tree, exp.Subquery) and tree.is_wrapper:
            tree = tree.this
        paths_as_text(tree)
        give_trinos_meaning(tree, run.system.body)
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
    new, old = places[bisect_right(places, (offset, 1 << 60)) - 1]
    return max(0, old + offset - new)


def _collect(body: Body, places: list[tuple[int, int]]) -> None:
    """Gather what the builders of functions noted on their nodes."""
    for node in body.query.walk():
        if why := node.meta.get(REFUSED):
            assert isinstance(why, Refused)
            found = offsets_of(node)
            at = _origin(found[0], places) if found else None
            raise LeftOut(f"{node.name}: {why.reason}", why.remedy, at)
        if note := node.meta.get(NOTE):
            body.note(note)


# -- passes that all systems share


def _names(body: Body, run: Run) -> None:
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
        name = run.name_of(written)
        if name != table.name and not table.alias:
            table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
        table.set("this", exp.to_identifier(name))
    for column in body.query.find_all(exp.Column):
        if column.args.get("catalog"):
            column.set("catalog", None)
            column.set("db", None)


_NO_NAME = (exp.Column, exp.Alias, exp.Star, exp.Dot, exp.Aliases)


def _column_names(body: Body, run: Run) -> None:
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


def _order(body: Body, run: Run) -> None:
    """Leave out an order without LIMIT: the rows of a table have none."""
    query = body.query
    if query.args.get("order") and not query.args.get("limit") and not query.args.get("fetch"):
        query.set("order", None)
        body.note("ORDER BY is left out: rows of a table have no order", "order when you read")


def _subquery_names(body: Body, run: Run) -> None:
    """Leave out words that say nothing: FETCH FIRST n ROWS ONLY is LIMIT n."""
    for query in body.query.find_all(exp.Query):
        fetch = query.args.get("limit")
        if isinstance(fetch, exp.Fetch) and fetch.args.get("count"):
            query.set("limit", exp.Limit(expression=fetch.args["count"].copy()))


_PASSES = (_names, _column_names, _order, _subquery_names)
