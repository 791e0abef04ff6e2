"""Values, ages and SQL as the pages of the console write them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from markupsafe import Markup, escape
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from headwater.dialect import Headwater
from headwater.dialect.splitter import read_text, split
from headwater.errors import HeadwaterError, Span
from headwater.errors.words import about

LONGEST = 400
"""Characters of a value that a page shows."""
_LITERALS = {TokenType.STRING: "s", TokenType.NUMBER: "n", TokenType.NATIONAL_STRING: "s"}
_PLAIN = (TokenType.VAR, TokenType.IDENTIFIER)
_OWN = frozenset((
    "STREAMING", "EMIT", "CHANGES", "WATERMARK", "SOURCE", "SINK", "UPSERT", "PLAIN", "DEBEZIUM",
    "ENCODE", "FRESHNESS", "LATE", "ROWS", "ZONE", "TUMBLE", "HOP", "CUMULATE", "SESSION", "CLOSE",
    "MATCH_RECOGNIZE", "DEFINE", "MEASURES", "PATTERN", "ERROR",
))  # fmt: skip
"""Words of the language that the tokenizer takes for names; only where they are written large."""


def age(found: timedelta | None) -> str:
    """Return a duration as people say it; empty if there is none."""
    return "" if found is None else about(found)


def moment(at: datetime | None) -> str:
    """Return a time to the second, in UTC."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def number(value: int | None) -> str:
    """Return a number with separators of thousands; empty if there is none."""
    return "" if value is None else f"{value:,}"


def rate(value: float | None) -> str:
    """Return rows per second in three digits."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 or value == 0 else f"{value:.3g}"


def sql_html(text: str) -> Markup:
    """Return SQL with its keywords, literals and comments marked; as it is if it has an error."""
    try:
        return Markup("").join(_marked(text))
    except (SqlglotError, IndexError):
        return escape(text)


def _marked(text: str) -> Iterator[Markup]:
    at = 0
    for token in Headwater().tokenize(text):
        yield _between(text[at : token.start])
        shown, at = text[token.start : token.end + 1], token.end + 1
        kind = _LITERALS.get(token.token_type, "")
        if not kind and (shown in _OWN or token.token_type not in _PLAIN) and shown[:1].isalpha():
            kind = "k"
        yield Markup('<span class="{}">{}</span>').format(kind, shown) if kind else escape(shown)
    yield _between(text[at:])


def _between(text: str) -> Markup:
    """Blanks and comments."""
    return Markup('<span class="c">{}</span>').format(text) if text.strip() else escape(text)


def written(span: Span | None) -> str:
    """Return a definition as its file has it; empty if it is not there any more."""
    if span is None:
        return ""
    try:
        source = read_text(Path(span.file).read_text(encoding="utf-8"), span.file)
        pieces = [(each.start, each.end) for each in split(source)]
    except (OSError, ValueError, HeadwaterError):
        return ""
    offset = sum(len(line) + 1 for line in source.text.split("\n")[: span.line - 1])
    offset += span.column - 1
    found = next((each for each in pieces if each[0] <= offset <= each[1]), None)
    return source.text[slice(*found)] if found else ""
