"""Text of a file → its statements, before any parsing.

In: the whole text. Out: where each statement starts and ends and which dialect its query is written
in. The scan is linear and knows only quotes, comments, brackets and ``CASE … END``; it finds the
places to go on after an error and refuses text that is too big or too deeply nested for a recursive
parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headwater.dialect.position import SourceText
from headwater.errors import SqlError
from headwater.errors.nearest import did_you_mean

MAX_BYTES = 1_000_000
MAX_DEPTH = 200
MAX_SUBSCRIPTS = 50

BODY_DIALECTS = (
    *("trino", "spark", "duckdb", "postgres", "snowflake", "bigquery"),
    *("flink", "risingwave", "materialize"),
)
MEANT_AS = {"risingwave": "postgres", "materialize": "postgres"}
"""Dialects whose words mean what another one means by them."""
BACKTICK_DIALECTS = ("spark", "bigquery", "flink")
_BACKSLASH_DIALECTS = ("spark", "snowflake", "bigquery")

_SCAN = r"""
  (?P<skip> --[^\n]* | /\*.*?\*/ | "(?:[^"]|"")*" | `[^`]*` | \$\$.*?\$\$ | {string} )
| (?P<open> [(\[{{] | \bCASE\b )
| (?P<close> [)\]}}] | \bEND\b )
| (?P<end> ; )
| (?P<bad> /\* | ['"`] | \$\$ )
"""
_FLAGS = re.VERBOSE | re.DOTALL | re.IGNORECASE
_SCANNER = re.compile(_SCAN.format(string="'(?:[^']|'')*'"), _FLAGS)
_BACKSLASH_SCANNER = re.compile(_SCAN.format(string=r"'(?:[^'\\]|\\.)*'"), _FLAGS)

_STATEMENT = re.compile(r"(?:CREATE|DROP)\b", re.IGNORECASE)
_BLANK = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*--[ \t]*dialect[ \t]*[:=][ \t]*(\S+)[ \t]*$", re.IGNORECASE | re.M)
_OPTION = re.compile(r"""\bdialect['"]?\s*=\s*'([^']*)'""", re.IGNORECASE)
_BODY = re.compile(r"\bAS\s+(?:SELECT|WITH|FROM|VALUES|\()", re.IGNORECASE)
_VIEW = re.compile(r"CREATE\s+(?:OR\s+REPLACE\s+)?STREAMING\b", re.IGNORECASE)

_CLOSES = {"/*": "*/"}
_UNFINISHED = {
    "/*": "unterminated comment",
    "'": "unterminated string",
    '"': "unterminated quoted name",
    "`": "unterminated quoted name",
    "$$": "unterminated $$ text",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement's text.

    Attributes:
        start: offset of its first character that is neither blank nor comment.
        end: offset after its last one, without the semicolon.
        dialect: what its query is written in; one of ``BODY_DIALECTS``.
        error: why it cannot be parsed, or None.
    """

    start: int
    end: int
    dialect: str
    error: SqlError | None = None


def read_text(text: str, file: str) -> SourceText:
    r"""Return the text to parse: without a byte order mark, with ``\n`` at the ends of lines.

    Args:
        text: as read from the file.
        file: its path, for messages.

    Raises:
        SqlError: TOO_LARGE, or SYNTAX_ERROR for a NUL character.
    """
    source = SourceText(file, text.removeprefix("\ufeff").replace("\r\n", "\n"))
    if len(text) > MAX_BYTES or len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES // 1_000_000} MB"
        hint = "split it into several files"
        raise SqlError("TOO_LARGE", message, hint=hint, span=source.span(0))
    nul = source.text.find("\0")
    if nul >= 0:
        message = "the file contains a NUL character"
        span = SourceText(file, source.text.replace("\0", "\ufffd")).span(nul)
        hint = "save the file as UTF-8 text"
        raise SqlError("SYNTAX_ERROR", message, hint=hint, span=span)
    return source


def check_dialect(name: str, source: SourceText, start: int) -> str:
    """Return the dialect's name in lower case.

    Args:
        start: its offset there.

    Raises:
        SqlError: UNKNOWN_DIALECT.
    """
    if name.lower() in BODY_DIALECTS:
        return name.lower()
    hint = did_you_mean(name, BODY_DIALECTS, "dialects")
    span = source.span(start, start + len(name))
    raise SqlError("UNKNOWN_DIALECT", f'dialect "{name}" is not known', hint=hint, span=span)


def split(source: SourceText, default_dialect: str | None = None) -> Iterator[Piece]:
    """Yield the statements of a file in order, empty ones left out.

    Args:
        default_dialect: dialect of queries where neither file nor statement names one; trino if
            None.

    Raises:
        SqlError: the ``-- dialect:`` line names an unknown one.
    """
    default = check_dialect(default_dialect or "trino", source, 0)
    top = _blank_end(source.text, 0)
    if found := _DIRECTIVE.search(source.text, 0, top):
        default = check_dialect(found[1], source, found.start(1))
    start = top
    while start < len(source.text):
        piece, after = _next_piece(source, start, default)
        if piece.end > piece.start:
            yield piece
        start = _blank_end(source.text, after)


def cut(text: str) -> tuple[list[str], str]:
    """Return the statements that a semicolon ends, without it, and what follows the last one.

    Blanks stand before a statement, so that it keeps its place.

    Args:
        text: what a person types, in Trino's SQL; comments between statements are left out.
    """
    source, found, start = SourceText("<sql>", text), [], _blank_end(text, 0)

    def placed(end: int) -> str:
        column = start - text.rfind("\n", 0, start) - 1
        return "\n" * text.count("\n", 0, start) + " " * column + text[start:end].rstrip()

    while start < len(text):
        end, after, _ = _scan(source, start, "trino")
        if after == end:
            break
        if end > start:
            found.append(placed(end))
        start = _blank_end(text, after)
    return found, placed(len(text))


def _blank_end(text: str, start: int) -> int:
    match = _BLANK.match(text, start)
    return match.end() if match else start


def _next_piece(source: SourceText, start: int, default: str) -> tuple[Piece, int]:
    """Return the statement at ``start`` and the offset after its semicolon."""
    dialect, error = "trino", None
    if _VIEW.match(source.text, start):
        dialect = default
        body = _BODY.search(source.text, start)
        if body and (option := _OPTION.search(source.text, start, body.start())):
            try:
                dialect = check_dialect(option[1], source, option.start(1))
            except SqlError as unknown:
                error = unknown
    elif not _STATEMENT.match(source.text, start):
        dialect = default
    end, after, problem = _scan(source, start, dialect)
    return Piece(start, end, dialect, error or problem), after


def _scan(source: SourceText, start: int, dialect: str) -> tuple[int, int, SqlError | None]:
    """Return the end of the statement, the offset to go on at, and what is wrong with it."""
    scanner = _BACKSLASH_SCANNER if dialect in _BACKSLASH_DIALECTS else _SCANNER
    depth, subscripts, after_bracket, error = 0, 0, -1, None
    for match in scanner.finditer(source.text, start):
        kind = match.lastgroup
        if kind == "end":
            return match.start(), match.end(), error
        if kind == "open":
            depth += 1
            # a[1][1]…: sqlglot's time grows with the cube of the length of such a chain
            chained = match[0] == "[" and match.start() == after_bracket
            subscripts = subscripts + 1 if chained else subscripts
            if (depth > MAX_DEPTH or subscripts > MAX_SUBSCRIPTS) and error is None:
                error = _too_deep(source, match.start(), depth)
        elif kind == "close":
            depth = max(0, depth - 1)
            after_bracket = match.end() if match[0] == "]" else -1
        elif kind == "skip" and match[0][0] == "`" and dialect not in BACKTICK_DIALECTS:
            hint = 'quote names with "…", or write -- dialect: spark at the top of the file'
            message = f"names are not quoted with backticks in {dialect}"
            span = source.span(match.start(), match.end())
            error = error or SqlError("SYNTAX_ERROR", message, hint=hint, span=span)
        elif kind == "bad":
            message, span = _UNFINISHED[match[0]], source.span(match.start(), match.end())
            hint = f"close it with {_CLOSES.get(match[0], match[0])}"
            return (
                len(source.text),
                len(source.text),
                SqlError("SYNTAX_ERROR", message, hint=hint, span=span),
            )
    return len(source.text), len(source.text), error


def _too_deep(source: SourceText, start: int, depth: int) -> SqlError:
    message = f"brackets and CASE are nested deeper than {MAX_DEPTH} levels"
    if depth <= MAX_DEPTH:
        message = f"more than {MAX_SUBSCRIPTS} subscripts follow each other"
    hint = "give the inner parts names with WITH, or split the view into several"
    return SqlError("TOO_DEEP", message, hint=hint, span=source.span(start))
