"""What a person most likely did wrong where the parser cannot go on.

In: a refusal of the parser and the tokens of the statement. Out: the refusal with the hint that a
colleague would give: a missing semicolon, comma or bracket, a misspelled keyword, double quotes
around a text, an operator of another language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect.vocabulary import QUERY_WORDS, TYPE_NAMES, DialectError
from headwater.errors.nearest import slip_of

_ADVISED = ("SYNTAX_ERROR", "UNKNOWN_CLAUSE")
_VAGUE = ('expected "', "something is missing", "known here", "a statement starts")
"""How hints begin that say what the parser waits for, not what the person did."""
_OPERATORS: Mapping[tuple[str, str], str] = {
    ("=", ">"): ">=",
    ("=", "<"): "<=",
    ("=", "!"): "<>",
    (">", "<"): "<>",
    ("<", "-"): "< -",
    ("!", "<"): ">=",
    ("!", ">"): "<=",
}
_WORDS_FOR = {"&&": "AND", "=>": ">=", "^=": "<>", "~=": "<>", "?": "a value", "%%": "%"}
_NO_OPERATOR = (("=", "<"), ("=", "!"))
"""Pairs that no statement has, although the parser may make something of them."""
_COMMENTS = ("/", "#")
_CLOSERS = {")": "(", "]": "[", "}": "{"}
_OPENERS = tuple(_CLOSERS.values())
_STARTERS = ("CREATE", "DROP", "SELECT", "WITH")
_KINDS = ("SOURCE", "TABLE", "STREAMING", "VIEW", "SINK", "FUNCTION", "OR", "MATERIALIZED")
_CLAUSES = ("FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "EMIT", "UNION", "AS")
_NEEDS_BY = ("GROUP", "ORDER", "PARTITION")
_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_OPERANDS = (*_NAMES, TokenType.STRING, TokenType.NUMBER)
_ENDS = (*_OPERANDS, TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END, TokenType.NULL)
CURLY = "‘’“”„"
"""Quotes that word processors write."""
_LOOKED_AT = (0, -1, 1, -2, 2)
"""At which tokens around the refused one a keyword may be misspelled, the likeliest first."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A refusal within a statement.

    Attributes:
        tokens: the tokens of the statement.
        at: index of the refused token; the number of tokens at the end of the statement.
        text: the whole file.
        error: the refusal.
    """

    tokens: Sequence[Token]
    at: int
    text: str
    error: DialectError

    @property
    def here(self) -> Token | None:
        return self.token(0)

    def token(self, offset: int) -> Token | None:
        index = self.at + offset
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def word(self, offset: int) -> str:
        token = self.token(offset)
        return "" if token is None or _is_quoted(token, self.text) else token.text.upper()


class _Advice(NamedTuple):
    """What to change: a hint, and from which token to which it is about; None: the refused one."""

    hint: str
    first: Token | None = None
    last: Token | None = None


def advised(error: DialectError, tokens: Sequence[Token], text: str) -> DialectError:
    """Return a refusal with a hint that says what to change, at the place of the mistake.

    Args:
        error: what the parser raised.
        tokens: those of the statement, with offsets into the text.
        text: the whole file.
    """
    if error.condition not in _ADVISED:
        return error
    at = next((i for i, token in enumerate(tokens) if token.start >= error.start), len(tokens))
    place = _Place(tokens, at, text, error)
    is_vague = not error.hint or error.hint.startswith(_VAGUE)
    for advise in (*_SURE, *(_LIKELY if is_vague else ())):
        if found := advise(place):
            hint, first, last = found
            if first is None:
                return DialectError(error.condition, error.message, hint, error.start, error.end)
            end = (last or first).end + 1
            shown = text[first.start : end]
            message = f'syntax error at or near "{shown}"'
            return DialectError("SYNTAX_ERROR", message, hint, first.start, end)
    return error


def check_operators(tokens: Sequence[Token]) -> None:
    """Refuse pairs of signs that the parser would read as two operators.

    Raises:
        DialectError: ``SYNTAX_ERROR``.
    """
    for first, second in zip(tokens, tokens[1:], strict=False):
        pair = (first.text, second.text)
        if pair in _NO_OPERATOR and first.end + 1 == second.start:
            message = f'syntax error at or near "{first.text}{second.text}"'
            hint = f"write {_OPERATORS[pair]}"
            raise DialectError("SYNTAX_ERROR", message, hint, first.start, second.end + 1)


def _semicolon(place: _Place) -> _Advice | None:
    token, word = place.here, place.word(0)
    if token is None or place.at == 0 or word not in _STARTERS:
        return None
    starts_statement = word in ("CREATE", "DROP") and place.word(1).split()[:1] in (
        [kind] for kind in _KINDS
    )
    first = place.tokens[0].text.upper()
    if not starts_statement and first == "CREATE" and not _has_as(place):
        # a view without AS, a table without anything that a query could follow
        is_view = "STREAMING" in (each.text.upper() for each in place.tokens[1:4])
        if is_view and place.word(-1) != "VIEW":
            return _Advice(f"is AS missing before {word}?")
        return None
    before = place.token(-1)
    is_over = before is not None and before.token_type in _ENDS
    if starts_statement or (is_over and not _unclosed(place.tokens[: place.at])):
        line = place.text.count("\n", 0, token.start) + 1
        return _Advice(f"is a ; missing before {word} on line {line}?")
    return None


def _has_as(place: _Place) -> bool:
    return any(token.text.upper() == "AS" for token in place.tokens[: place.at])


def _operator(place: _Place) -> _Advice | None:
    for index in range(max(place.at - 3, 0), min(place.at + 2, len(place.tokens))):
        token = place.tokens[index]
        if token.text in _WORDS_FOR and token.token_type != TokenType.STRING:
            return _Advice(f"write {_WORDS_FOR[token.text]}", token)
        following = place.tokens[index + 1] if index + 1 < len(place.tokens) else None
        if following is None or following.start != token.end + 1:
            continue
        if (token.text, following.text) in _OPERATORS:
            hint = f"write {_OPERATORS[token.text, following.text]}"
            return _Advice(hint, token, following)
    return None


def _comment(place: _Place) -> _Advice | None:
    token, after = place.here, place.token(1)
    if token is None or token.text not in _COMMENTS:
        return None
    doubled = after is not None and after.text == "/" and after.start == token.end + 1
    return _Advice("a comment begins with --") if doubled or token.text == "#" else None


def _quotes(place: _Place) -> _Advice | None:
    for offset in (0, -1):
        token = place.token(offset)
        if token is None:
            continue
        if token.text[:1] in CURLY and token.token_type != TokenType.STRING:
            return _Advice(text_hint(token.text.strip(CURLY)), token)
    token = place.here
    if token is not None and place.text[token.start] == '"' and _is_quoted(token, place.text):
        return _Advice(text_hint(token.text))
    return None


def _comma_too_many(place: _Place) -> _Advice | None:
    before, token = place.token(-1), place.here
    if before is None or before.token_type != TokenType.COMMA:
        return None
    if token is None or token.text in (")", "]", ",") or token.text.upper() in _CLAUSES:
        return _Advice("remove the comma before this")
    return None


def _keyword(place: _Place) -> _Advice | None:
    opened = _unclosed(place.tokens[: place.at])
    called = [place.tokens.index(opened[-1]) - 1 - place.at] if opened else []
    for offset in (*_LOOKED_AT, *called):
        token = place.token(offset)
        if token is None or token.token_type != TokenType.VAR or place.word(offset) in QUERY_WORDS:
            continue
        if near := slip_of(token.text, QUERY_WORDS):
            return _Advice(f"did you mean {near}?", token)
    return None


def _bracket(place: _Place) -> _Advice | None:
    opened, stray = _brackets(place.tokens)
    token = place.here
    if stray is not None:
        if stray is token:
            hint = f"remove this {stray.text}: it closes nothing, or a {_CLOSERS[stray.text]} is"
            return _Advice(f"{hint} missing before it")
        if token is not None and stray.start > token.start and not opened:
            return _Advice(f"is a {_CLOSERS[stray.text]} missing before this?")
    if not opened:
        return None
    within = [each for each in opened if token is None or each.start < token.start]
    if not within:
        return None
    bracket = within[-1]
    index = place.tokens.index(bracket)
    before = place.tokens[index - 1] if index else None
    behind = f" after {before.text}" if before and before.token_type in _NAMES else ""
    closer = next(end for end, start in _CLOSERS.items() if start == bracket.text)
    line = place.text.count("\n", 0, bracket.start) + 1
    return _Advice(
        f"is a {closer} missing? The {bracket.text}{behind} on line {line} is not closed"
    )


def _missing_word(place: _Place) -> _Advice | None:
    before, token = place.word(-1), place.here
    if token is None:
        return None
    if before in _NEEDS_BY:
        return _Advice(f"is BY missing after {before}?")
    for offset in range(-1, -5, -1):
        word = place.word(offset)
        if word in ("ON", "USING", "WHERE"):
            break
        if word == "JOIN" and offset < -1:
            return _Advice(f"is ON missing before {token.text}?")
    return None


def _side_by_side(place: _Place) -> _Advice | None:
    """Two values with nothing between them."""
    token, before = place.here, place.token(-1)
    if token is None or before is None or place.error.condition == "UNKNOWN_CLAUSE":
        return None
    if place.tokens[0].text.upper() == "DROP":
        return None
    if token.text == "(" and before.token_type == TokenType.VAR:
        ahead = place.token(-2)  # count(*) sum(
        if ahead is not None and ahead.token_type in _ENDS:
            return _Advice(f"is a comma missing before {before.text}?", before)
    ended = before.token_type in _ENDS or before.text.upper() in TYPE_NAMES
    if token.token_type in _OPERANDS and ended:
        shown = place.text[token.start : token.end + 1]
        return _Advice(f"is a comma or an operator missing before {shown}?")
    return None


_SURE: Sequence[Callable[[_Place], _Advice | None]] = (
    _semicolon,
    _comment,
    _quotes,
    _comma_too_many,
)
"""What is asked even if the parser has a hint of its own."""
_LIKELY: Sequence[Callable[[_Place], _Advice | None]] = (
    _operator,
    _keyword,
    _bracket,
    _missing_word,
    _side_by_side,
)


def text_hint(text: str) -> str:
    """Return the hint for a text in double or curly quotes."""
    quoted = text.replace("'", "''")
    return f"texts take single quotes: '{quoted}'"


def _is_quoted(token: Token, text: str) -> bool:
    return token.token_type == TokenType.STRING or (
        token.token_type == TokenType.IDENTIFIER and text[token.start] in '"`'
    )


def _unclosed(tokens: Sequence[Token]) -> list[Token]:
    return _brackets(tokens)[0]


def _brackets(tokens: Sequence[Token]) -> tuple[list[Token], Token | None]:
    """Return the brackets that nothing closes, and the first one that closes nothing."""
    opened: list[Token] = []
    stray: Token | None = None
    for token in _signs(tokens):
        if token.text in _OPENERS:
            opened.append(token)
        elif opened and opened[-1].text == _CLOSERS[token.text]:
            opened.pop()
        elif stray is None:
            stray = token
    return opened, stray


def _signs(tokens: Sequence[Token]) -> Iterator[Token]:
    texts = (TokenType.STRING, TokenType.IDENTIFIER)
    signs = (*_OPENERS, *_CLOSERS)
    return (each for each in tokens if each.text in signs and each.token_type not in texts)
