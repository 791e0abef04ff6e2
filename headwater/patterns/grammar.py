"""The text of ``PATTERN ( … )`` → a tree.

In: the text between the brackets. Out: :mod:`headwater.patterns.tree`, or a
:class:`PatternMistake` with the place in the text. Variables are upper case, as Trino shows them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from headwater.patterns.tree import (
    Alternation,
    Concatenation,
    EmptyPattern,
    Exclusion,
    PartitionAnchor,
    PatternVariable,
    Permutation,
    Repetition,
    RowPattern,
)

MAX_REPEAT = 10_000
"""The greatest bound of a quantifier; each repetition takes its own states."""

_TOKEN = re.compile(
    r"(?P<skip>\s+|--[^\n]*|/\*.*?\*/)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<number>\d+)"
    r'|(?P<quoted>"[^"]*"?)'
    r"|(?P<sign>\{-|-\}|[(){}|,*+?^$])"
    r"|(?P<other>.)",
    re.DOTALL,
)


class PatternMistake(Exception):
    """What is wrong with a pattern, and where.

    Attributes:
        condition: the error's condition.
        message: what is wrong.
        hint: what to write instead.
        at: offset of the first wrong character in the pattern's text.
        length: number of wrong characters, at least 1.
    """

    def __init__(
        self, condition: str, message: str, hint: str, at: int = 0, length: int = 1
    ) -> None:
        super().__init__(message)
        self.condition, self.message, self.hint = condition, message, hint
        self.at, self.length = at, length


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def read(text: str) -> RowPattern:
    """Read a pattern.

    Raises:
        PatternMistake: it is not one.
    """
    return _Reader(text).whole()


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens = [
            _Token(str(found.lastgroup), found[0], found.start())
            for found in _TOKEN.finditer(text)
            if found.lastgroup != "skip"
        ]
        self._tokens.append(_Token("end", "", len(text)))
        self._index = 0

    def whole(self) -> RowPattern:
        pattern = self._alternation()
        if self._token.kind != "end":
            self._fail("expected a pattern variable, an operator or the end of the pattern here")
        return pattern

    @property
    def _token(self) -> _Token:
        return self._tokens[self._index]

    def _take(self, *signs: str) -> str:
        if self._token.kind == "sign" and self._token.text in signs:
            self._index += 1
            return self._tokens[self._index - 1].text
        return ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            self._fail(f'expected "{sign}" here')

    def _fail(self, hint: str) -> NoReturn:
        token = self._token
        where = f'at or near "{token.text}"' if token.text else "at the end of the pattern"
        length = max(1, len(token.text))
        raise PatternMistake("SYNTAX_ERROR", f"syntax error {where}", hint, token.at, length)

    def _alternation(self) -> RowPattern:
        parts = [self._concatenation()]
        while self._take("|"):
            parts.append(self._concatenation())
        return parts[0] if len(parts) == 1 else Alternation(tuple(parts))

    def _concatenation(self) -> RowPattern:
        parts = [self._quantified()]
        while self._token.kind in ("name", "quoted") or self._token.text in ("(", "{-", "^", "$"):
            parts.append(self._quantified())
        return parts[0] if len(parts) == 1 else Concatenation(tuple(parts))

    def _quantified(self) -> RowPattern:
        part = self._primary()
        start = self._token
        if sign := self._take("*", "+", "?"):
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        elif self._take("{"):
            least, most = self._range(start)
        else:
            return part
        return Repetition(part, least, most, greedy=not self._take("?"))

    def _range(self, start: _Token) -> tuple[int, int | None]:
        least = self._number()
        most = self._number() if self._take(",") else least
        if least is None and most is None and self._tokens[self._index - 1].text == "{":
            self._fail("write a number of repetitions: {2}, {2,}, {,5} or {2,5}")
        self._expect("}")
        length = self._tokens[self._index - 1].at + 1 - start.at
        wrong = ""
        if most == 0:
            wrong, hint = "the upper bound is 0", "write an upper bound of at least 1"
        elif least is not None and most is not None and least > most:
            wrong = f"the lower bound {least} exceeds the upper bound {most}"
            hint = f"write {{{most},{least}}}"
        elif max(least or 0, most or 0) > MAX_REPEAT:
            wrong = f"{max(least or 0, most or 0)} repetitions exceed the limit of {MAX_REPEAT}"
            hint = "write a quantifier without an upper bound, such as {2,}, and a WITHIN clause"
        if wrong:
            raise PatternMistake("INVALID_PATTERN", wrong, hint, start.at, length)
        return least or 0, most

    def _number(self) -> int | None:
        if self._token.kind != "number":
            return None
        self._index += 1
        return int(self._tokens[self._index - 1].text)

    def _primary(self) -> RowPattern:
        token = self._token
        if token.kind == "quoted":
            name = token.text.strip('"')
            hint = f"write {name} without quotes; names of variables do not depend on case"
            message = f'the pattern variable "{name}" is quoted'
            raise PatternMistake("INVALID_PATTERN", message, hint, token.at, len(token.text))
        if token.kind == "name":
            self._index += 1
            if token.text.upper() == "PERMUTE" and self._take("("):
                return self._permutation(token)
            return PatternVariable(token.text.upper())
        if self._take("("):
            if self._take(")"):
                return EmptyPattern()
            inner = self._alternation()
            self._expect(")")
            return inner
        if self._take("{-"):
            inner = self._alternation()
            self._expect("-}")
            return Exclusion(inner)
        if sign := self._take("^", "$"):
            return PartitionAnchor(at_end=sign == "$")
        return self._fail("expected a pattern variable here")

    def _permutation(self, start: _Token) -> RowPattern:
        parts = [self._alternation()]
        while self._take(","):
            parts.append(self._alternation())
        self._expect(")")
        if len(parts) == 1:  # Trino 476 takes PERMUTE for a variable then
            hint = "write at least two parts: PERMUTE(a, b)"
            message = "PERMUTE has a single part"
            raise PatternMistake("INVALID_PATTERN", message, hint, start.at, len(start.text))
        return Permutation(tuple(parts))
