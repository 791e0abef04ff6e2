"""SQL text ⇄ syntax tree.

In: the text of a file. Out: one sqlglot tree per statement, in canonical form, every node knowing
where it stands; or an error with a place and a hint. :func:`to_sql` prints a tree back.

    >>> from headwater.dialect import parse, to_sql
    >>> view, = parse("create streaming view V as select A from T emit changes")
    >>> print(to_sql(view, pretty=False))
    CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES
"""

from __future__ import annotations

import re
import sys

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError, UnsupportedError

import headwater.dialect.trees  # noqa: F401 - trees are copied so from now on
from headwater.dialect.group_windows import move_group_windows
from headwater.dialect.json_paths import read_json
from headwater.dialect.meanings.by_dialect import give_trinos_meaning
from headwater.dialect.normalize import FRAMES, normalize
from headwater.dialect.parser import Headwater, body_parser
from headwater.dialect.position import SOURCE_META, SourceText, span_of
from headwater.dialect.rows import name_fields
from headwater.dialect.splitter import BODY_DIALECTS, Piece, read_text, split
from headwater.dialect.syntax import RENAMED_FROM, CreateStreamingView, OptionClause
from headwater.dialect.vocabulary import DialectError
from headwater.errors import SqlError, raise_all

__all__ = ["BODY_DIALECTS", "Headwater", "SourceText", "parse", "parse_all", "span_of", "to_sql"]

# Trees are walked recursively by all layers: the 1,000 frames that Python gives are too few.
sys.setrecursionlimit(max(sys.getrecursionlimit(), FRAMES))

_RENAMED = re.compile(r"--\s*renamed\s+from\s*:\s*(\w+)\s*", re.IGNORECASE)
# what sqlglot raises besides its ParseError on input it was not written for
_SURPRISES = (
    *(SqlglotError, RecursionError, AssertionError, AttributeError),
    *(IndexError, KeyError, TypeError, ValueError),
)


def parse(
    text: str, *, file: str = "<string>", default_dialect: str | None = None
) -> list[exp.Expression]:
    """Parse the statements of a file.

    Args:
        file: its path, for messages.
        default_dialect: what queries are written in where neither ``-- dialect: name`` at the top
            nor ``WITH (dialect = 'name')`` says so; one of :data:`BODY_DIALECTS`, by default trino.

    Returns:
        The statements in order, in canonical form (see ``syntax.py`` and ``normalize.py``).

    Raises:
        SqlError: the file holds one error.
        ErrorGroup: it holds several; after each, parsing went on behind the next semicolon.
    """
    statements, errors = parse_all(text, file=file, default_dialect=default_dialect)
    raise_all(errors)
    return statements


def parse_all(
    text: str, *, file: str = "<string>", default_dialect: str | None = None
) -> tuple[list[exp.Expression], list[SqlError]]:
    """Parse what can be parsed of a file.

    Args:
        file: its path, for messages.
        default_dialect: as for :func:`parse`.

    Returns:
        The statements that have no error, and the errors of the others.
    """
    statements: list[exp.Expression] = []
    errors: list[SqlError] = []
    try:
        source = read_text(text, file)
        pieces = list(split(source, default_dialect))
    except SqlError as error:
        return [], [error]
    for piece in pieces:
        try:
            statements.append(_parse_piece(source, piece))
        except SqlError as error:
            errors.append(error)
    return statements, errors


def to_sql(node: exp.Expr, *, pretty: bool = True) -> str:
    """Print a tree as canonical Headwater text, without a semicolon at the end.

    Args:
        node: a statement or any part of one.
        pretty: over several lines with indentation, or on one line.

    Raises:
        SqlError: UNPRINTABLE, the tree holds what Headwater's SQL has no words for.
    """
    try:
        return Headwater().generate(
            node,
            pretty=pretty,
            comments=False,
            unsupported_level=ErrorLevel.RAISE,
            max_text_width=100,
        )
    except UnsupportedError as error:
        message = str(error).split("\n")[0]
        raise SqlError("UNPRINTABLE", message, span=span_of(node)) from error
    except _SURPRISES as error:
        message = "the statement cannot be printed"
        raise SqlError("UNPRINTABLE", message, span=span_of(node)) from error


def _parse_piece(source: SourceText, piece: Piece) -> exp.Expression:
    if piece.error:
        raise piece.error
    parser = body_parser(piece.dialect)
    try:
        statement = parser.parse(source.text, piece.start, piece.end)
        _take_dialect(statement)
        read_json(statement)
        give_trinos_meaning(statement, piece.dialect)
        name_fields(statement, piece.dialect)
        normalize(statement, Headwater.Tokenizer)
        if isinstance(query := statement.args.get("expression"), exp.Query):
            move_group_windows(query)
    except DialectError as error:
        span = source.span(error.start, error.end)
        raise SqlError(error.condition, error.message, hint=error.hint, span=span) from None
    except _SURPRISES as error:
        raise _as_sql_error(source, piece, error) from None
    statement.meta[SOURCE_META] = source
    if isinstance(statement, CreateStreamingView):
        statement.meta[RENAMED_FROM] = _renamed_from(source.text[: piece.start])
    for query in (statement.args.get("expression"),):
        if isinstance(query, exp.Query):
            query.meta[SOURCE_META] = source
    assert isinstance(statement, exp.Expression)
    return statement


def _renamed_from(before: str) -> str:
    """The name in a comment like ``-- renamed from: old_name`` right before a statement."""
    for line in reversed(before.splitlines()):
        words = line.strip()
        if words and not words.startswith("--"):
            break
        if found := _RENAMED.fullmatch(words):
            return found[1].lower()
    return ""


def _take_dialect(statement: exp.Expr) -> None:
    """Remove ``dialect = …`` from the options: the tree and its text are in Headwater's own."""
    if isinstance(statement, CreateStreamingView):
        options: list[OptionClause] = statement.args.get("options") or []
        kept = [option for option in options if option.this != "dialect"]
        if len(kept) < len(options):
            statement.set("options", kept or None)


def _as_sql_error(source: SourceText, piece: Piece, error: Exception) -> SqlError:
    span = source.span(piece.start)
    if isinstance(error, RecursionError):
        hint = "give the inner parts names with WITH, or split the view into several"
        return SqlError("TOO_DEEP", "the statement is nested too deeply", hint=hint, span=span)
    hint = "look for a comma, a bracket or an argument that is missing"
    return SqlError("SYNTAX_ERROR", "the statement cannot be read", hint=hint, span=span)
