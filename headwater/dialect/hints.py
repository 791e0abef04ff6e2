"""Hints of Materialize about sizes: ``OPTIONS (AGGREGATE INPUT GROUP SIZE = 1000)``.

In: the tokens of a statement. Out: the same without these hints, which change no row of a result.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

_SIZES = ("EXPECTED", "AGGREGATE", "DISTINCT", "LIMIT")
_BRACKETS = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}


def without_sizes(tokens: list[Token]) -> list[Token]:
    """Return tokens without ``OPTIONS (… GROUP SIZE = n)``."""
    hinted = {at for start in _starts(tokens) for at in _inside(tokens, start)}
    return [token for at, token in enumerate(tokens) if at not in hinted]


def _starts(tokens: list[Token]) -> Iterator[int]:
    for at in range(len(tokens) - 2):
        word, bracket, size = (token.text.upper() for token in tokens[at : at + 3])
        quoted = tokens[at].token_type in (TokenType.IDENTIFIER, TokenType.STRING)
        if word == "OPTIONS" and bracket == "(" and size in _SIZES and not quoted:
            yield at


def _inside(tokens: list[Token], start: int) -> Iterator[int]:
    """Yield the places of ``OPTIONS``, of its brackets, and of what is between them."""
    yield start
    depth = 0
    for at in range(start + 1, len(tokens)):
        yield at
        depth += _BRACKETS.get(tokens[at].token_type, 0)
        if not depth:
            return
