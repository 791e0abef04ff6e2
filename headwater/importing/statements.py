"""The text of a file → its statements, and a cursor over the words of one.

In: text in any of the dialects. Out: statements with their place, cut at semicolons outside of
quotes, comments and ``$$``; tokens of each. Nothing is refused: a statement that cannot be cut into
tokens says so when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.generators.trino import TrinoGenerator
from sqlglot.tokenizer_core import Token, TokenType

from headwater.importing.contract import LeftOut

_SKIP = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\$(\w*)\$.*?\$\1\$|(?P<end>;)""",
    re.DOTALL,
)
_BLANK = re.compile(r"(?:\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/|;)*", re.DOTALL)
_LINE_COMMENT = re.compile(r"^[ \t]*--[^\n]*$", re.MULTILINE)
OPEN = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
CLOSE = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


@dataclass(frozen=True)
class Statement:
    """One statement of a file.

    Attributes:
        file: the path, as the user wrote it.
        text: the text of the whole file.
        start: offset of the first character.
        end: offset after the last one.
        dialect: for the tokens.
        leading: comment lines before it.
    """

    file: str
    text: str
    start: int
    end: int
    dialect: Any
    leading: str = ""

    def place(self, at: int | None = None) -> str:
        """Return file and line."""
        return f"{self.file}:{self.text.count(chr(10), 0, self.start if at is None else at) + 1}"

    @cached_property
    def tokens(self) -> list[Token]:
        """Its tokens, with offsets into the file."""
        try:
            found = Dialect.get_or_raise(self.dialect).tokenize(self.text[self.start : self.end])
        except TokenError as error:
            reason = "a quote or a comment is not closed"
            raise LeftOut(reason, "close it") from error
        for token in found:
            token.start += self.start
            token.end += self.start
        return found

    def cursor(self) -> Cursor:
        """Return a cursor at its first word."""
        return Cursor(self.text, self.tokens)

    @property
    def head(self) -> str:
        """Its first words in upper case, without comments."""
        words = re.sub(
            r"--[^\n]*|/\*.*?\*/", " ", self.text[self.start : min(self.end, self.start + 400)]
        )
        return " ".join(words.upper().split())


def split_text(file: str, text: str, dialect: Any) -> Iterator[Statement]:  # noqa: ANN401
    """Yield the statements of a text."""
    at = 0
    while at < len(text):
        blank = _BLANK.match(text, at)
        start = blank.end() if blank else at
        end = _end(text, start)
        stop = end
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if stop > start:
            before = text[at:start].rpartition(";")[2]
            leading = "\n".join(line.strip() for line in _LINE_COMMENT.findall(before))
            yield Statement(file, text, start, stop, dialect, leading)
        at = end + 1


def _end(text: str, start: int) -> int:
    """Return the offset of the semicolon that ends the statement, or of the end of the text."""
    for found in _SKIP.finditer(text, start):
        if found["end"]:
            return found.start()
    return len(text)


@dataclass
class Cursor:
    """A place among tokens.

    Attributes:
        text: the text that the tokens point into.
        tokens: the tokens.
        at: number of the next one.
    """

    text: str
    tokens: list[Token]
    at: int = field(default=0)

    def __bool__(self) -> bool:
        return self.at < len(self.tokens)

    def peek(self, ahead: int = 0) -> Token | None:
        """Return a token ahead, or None at the end."""
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def word(self, ahead: int = 0) -> str:
        """Return a token ahead in upper case; nothing for texts and quoted names."""
        token = self.peek(ahead)
        quoted = token is None or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER)
        return "" if quoted or token is None else " ".join(token.text.upper().split())

    def take(self, phrase: str) -> bool:
        """Step over words, if all of them follow."""
        words, at = phrase.split(), self.at
        while words:
            found = self.word().split()
            if not found or words[: len(found)] != found:
                self.at = at
                return False
            words = words[len(found) :]
            self.at += 1
        return True

    def take_any(self, *phrases: str) -> str:
        """Step over the first of the phrases that follows."""
        return next((phrase for phrase in phrases if self.take(phrase)), "")

    def need(self, phrase: str) -> None:
        """Step over words, or leave the statement out."""
        if not self.take(phrase):
            self.give_up(f"{phrase} is expected")

    def give_up(self, reason: str, remedy: str = "") -> None:
        """Leave the statement out, with the word that stands here."""
        token = self.peek()
        where = "at the end"
        if token is not None:  # a text in quotes may be a secret
            quoted = token.token_type is TokenType.STRING
            where = "at a text in quotes" if quoted else f'at "{token.text[:40]}"'
        at = token.start if token else None
        raise LeftOut(f"{reason} {where}", remedy or "correct the statement", at)

    def step(self) -> Token:
        """Return the next token and step over it."""
        token = self.peek()
        if token is None:
            self.give_up("the statement is not complete")
        assert token is not None
        self.at += 1
        return token

    def name(self) -> str:
        """Return the last part of a dotted name, as written."""
        found = self._part()
        while (dot := self.peek()) and dot.token_type is TokenType.DOT:
            self.at += 1
            found = self._part()
        return found

    def _part(self) -> str:
        token = self.step()
        if token.token_type in (TokenType.STRING, TokenType.NUMBER, TokenType.COMMA, *OPEN, *CLOSE):
            self.at -= 1
            self.give_up("a name is expected")
        return token.text

    def string(self) -> str:
        """Return a text in quotes, or leave the statement out."""
        token = self.peek()
        if token is None or token.token_type is not TokenType.STRING:
            self.give_up("a text in quotes is expected")
        return self.step().text

    def is_open(self) -> bool:
        """Whether a bracket opens here."""
        token = self.peek()
        return token is not None and token.token_type is TokenType.L_PAREN

    def group(self) -> Cursor:
        """Step over ``( … )`` and return a cursor over what is inside."""
        if not self.is_open():
            self.give_up('"(" is expected')
        start, depth = self.at + 1, 0
        while self:
            kind = self.step().token_type
            depth += (kind in OPEN) - (kind in CLOSE)
            if depth == 0:
                return Cursor(self.text, self.tokens[start : self.at - 1])
        self.give_up("a bracket is not closed")
        raise AssertionError

    def items(self) -> list[Cursor]:
        """Return a cursor over each of the items that commas separate, up to the end."""
        found: list[Cursor] = []
        depth, start = 0, self.at
        for at in range(self.at, len(self.tokens)):
            kind = self.tokens[at].token_type
            depth += (kind in (*OPEN, TokenType.LT)) - (kind in (*CLOSE, TokenType.GT))
            if kind is TokenType.COMMA and depth <= 0:
                found.append(Cursor(self.text, self.tokens[start:at]))
                start, depth = at + 1, 0
        if start < len(self.tokens):
            found.append(Cursor(self.text, self.tokens[start:]))
        self.at = len(self.tokens)
        return found

    def names(self) -> list[str]:
        """Step over ``(a, b, …)``, if it is there, and return the names."""
        return [each.step().text for each in self.group().items()] if self.is_open() else []

    def until(self, *phrases: str) -> Cursor:
        """Step up to one of the phrases outside of brackets, and return what was stepped over."""
        start, depth = self.at, 0
        while self:
            token = self.peek()
            assert token is not None
            if depth == 0 and any(self._ahead(phrase) for phrase in phrases):
                break
            depth += (token.token_type in OPEN) - (token.token_type in CLOSE)
            self.at += 1
        return Cursor(self.text, self.tokens[start : self.at])

    def _ahead(self, phrase: str) -> bool:
        at = self.at
        found = self.take(phrase)
        self.at = at
        return found

    @property
    def bounds(self) -> tuple[int, int]:
        """Offsets of what is left."""
        left = self.tokens[self.at :]
        return (left[0].start, left[-1].end + 1) if left else (len(self.text), len(self.text))

    @property
    def rest(self) -> str:
        """The text of what is left."""
        start, end = self.bounds
        return self.text[start:end]


def plain_name(name: str) -> str:
    """Return a name that an object of a project can have."""
    found = re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")
    found = found if found[:1].isalpha() else f"t_{found}"
    return found[:63]


def column_name(name: str) -> str:
    """Return the name of a column as Headwater writes it: in lower case, in quotes if it must."""
    lower = name.lower()
    bare = re.fullmatch(r"[a-z_][a-z0-9_]*", lower)
    return lower if bare and lower not in _RESERVED else f'"{lower}"'


_RESERVED = {*TrinoGenerator.RESERVED_KEYWORDS, "watermark", "primary"}
