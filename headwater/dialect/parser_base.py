"""What all parts of the parser share: errors, words, names, intervals and option lists.

In: tokens. Out: small nodes, or a :class:`DialectError` that carries condition, hint and offsets;
it is a ``ParseError``, so that sqlglot's own backtracking keeps working, and becomes an
``SqlError`` at the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import SequenceMatcher
from typing import Any, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect import interval_text
from headwater.dialect.syntax import OptionClause
from headwater.dialect.vocabulary import (
    MISPLACED,
    NAME_PATTERN,
    RESERVED_SUFFIXES,
    TYPE_NAMES,
    UNITS,
    DialectError,
)
from headwater.errors.nearest import nearest

E = TypeVar("E", bound=exp.Expr)
T = TypeVar("T")
Clause = Callable[[Any], dict[str, Any]]

_NUMBER = re.compile(r"\d+(\.\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LACKING = re.compile(r"missing for <class '.*\.(\w+)'>")
_EXPECTED = re.compile(r"expect(?:ing|ed) (?P<what>\S+)", re.IGNORECASE)


class ClauseParser(Parser):
    """Helpers on which the statements, clauses and query extensions are built."""

    def fail(
        self, condition: str, message: str, *, hint: str = "", token: Token | None = None
    ) -> NoReturn:
        """Raise at a token, by default the current one, or behind the last one at the end."""
        token = token or self._curr
        if token:
            raise DialectError(condition, message, hint, token.start, token.end + 1)
        end = self._prev.end + 1 if self._prev else 0
        raise DialectError(condition, message, hint, end, end + 1)

    def raise_error(self, message: str, token: Token = None) -> None:  # type: ignore[assignment]
        """Turn sqlglot's own refusals into ours."""
        token = token or self._curr
        hint = ""
        if expected := _EXPECTED.match(message):
            if expected["what"] == "TYPE" and token:
                self.fail_type(token)
            what = expected["what"]
            hint = "expected a table here" if what == "table" else f'expected "{what}" here'
        elif message.startswith(("Required keyword", "Failed to parse")):
            node = _LACKING.search(message)
            if node and issubclass(getattr(exp, node[1], exp.Expr), exp.Func):
                self._fail_arguments(token)
            hint = "something is missing before this" if token else "something is missing here"
        elif message.startswith("The number of provided arguments"):
            self._fail_arguments(token)
        elif message.startswith("Found multiple"):
            word = message.split("'")[1]
            hint = "remove one of them"
            self.fail("DUPLICATE_CLAUSE", f"{word} is given twice", hint=hint, token=token)
        self.fail_near(token, hint)

    def _fail_arguments(self, token: Token | None) -> NoReturn:
        """Raise for a call of a known function with too many or too few arguments."""
        end, depth = (self._tokens.index(token) if token in self._tokens else self._index), 0
        for at in range(min(end, len(self._tokens) - 1), 0, -1):
            depth += {TokenType.R_PAREN: 1, TokenType.L_PAREN: -1}.get(
                self._tokens[at].token_type, 0
            )
            if self._tokens[at].token_type == TokenType.L_PAREN and depth <= 0:
                name = self._tokens[at - 1]
                message = f"{name.text.lower()} does not take these arguments"
                hint = f"see: headwater functions {name.text.lower()}"
                self.fail("WRONG_ARGUMENTS", message, hint=hint, token=name)
        self.fail_near(token)

    def fail_type(self, token: Token) -> NoReturn:
        """Raise for a word that is not a type."""
        near = nearest(token.text, TYPE_NAMES)
        hint = f"did you mean {near}?" if near else "types are Trino's: VARCHAR, BIGINT, TIMESTAMP…"
        self.fail("UNKNOWN_TYPE", f'type "{token.text}" is not known', hint=hint, token=token)

    def fail_near(self, token: Token | None = None, hint: str = "") -> NoReturn:
        """Raise PostgreSQL's words for a token that does not belong where it stands."""
        token = token or self._curr
        if not token:
            self.fail("SYNTAX_ERROR", "syntax error at the end of the statement", hint=hint)
        text = token.text if len(token.text) <= 40 else token.text[:37] + "…"
        self.fail("SYNTAX_ERROR", f'syntax error at or near "{text}"', hint=hint, token=token)

    def _parse_as_command(self, start: Token) -> NoReturn:
        self.fail_near(self._curr or start)

    def _parse_command(self) -> NoReturn:
        self.fail_near(self._prev)

    def _warn_unsupported(self) -> NoReturn:
        self.fail_near(self._curr or self._prev)

    def _parse_csv(
        self, parse_method: Callable[[], T | None], sep: TokenType = TokenType.COMMA
    ) -> list[T]:
        first = parse_method()
        items = [] if first is None else [first]
        if first is None and self._curr.token_type == sep:
            self.fail_near(hint="something is missing before this")
        while self._match(sep):
            comma = self._prev
            item = parse_method()
            if item is None:
                self.fail_near(self._curr or comma, "remove the comma before this")
            items.append(item)
        return items

    # words

    def _word(self) -> str:
        """Return the current token in upper case; nothing for strings and quoted names."""
        if not self._curr or self._curr.token_type in self.TEXT_MATCH_EXCLUDED_TOKENS:
            return ""
        return self._curr.text.upper()

    def _match_words(self, phrase: str, advance: bool = True) -> bool:
        """Match words whether the tokenizer joined them (``PRIMARY KEY``) or not."""
        index, words = self._index, phrase.split()
        while words and (found := self._word().split()) and words[: len(found)] == found:
            words = words[len(found) :]
            self._advance()
        if words or not advance:
            self._retreat(index)
        return not words

    def _match_any_words(self, phrases: Iterable[str]) -> str:
        return next((phrase for phrase in phrases if self._match_words(phrase)), "")

    def _words_ahead(self, count: int) -> str:
        index = self._index
        found: list[str] = []
        while len(found) < count and (words := self._word().split()):
            found += words
            self._advance()
        self._retreat(index)
        return " ".join(found[:count])

    def _nearest_words(self, phrases: Iterable[str]) -> str:
        """Return the phrase that the words ahead look like."""
        ranked = []
        for phrase in phrases:
            ahead = self._words_ahead(phrase.count(" ") + 1)
            first = SequenceMatcher(None, ahead.split(" ")[0], phrase.split(" ")[0]).ratio()
            whole = SequenceMatcher(None, ahead, phrase).ratio()
            ranked.append((max(whole, first), whole, phrase))
        score, _, phrase = max(ranked, default=(0.0, 0.0, ""))
        return phrase if score >= 0.7 else ""

    def _expect_words(self, phrase: str, hint: str = "") -> None:
        if not self._match_words(phrase):
            self.fail_near(hint=hint or f"expected {phrase} here")

    def _expect(self, token_type: TokenType, text: str) -> None:
        if not self._match(token_type):
            self.fail_near(hint=f"expected {text} here")

    def _choice(self, what: str, phrases: Iterable[str]) -> str:
        """Return which of the phrases follows, in lower case."""
        phrases = tuple(phrases)
        if phrase := self._match_any_words(phrases):
            return phrase.lower()
        near = self._nearest_words(phrases)
        hint = f"did you mean {near}?" if near else f"{what} is one of {', '.join(phrases)}"
        return self.fail_near(hint=hint)

    def _parse_on_error(self) -> dict[str, str]:
        return {"on_error": self._choice("ON ERROR", ("QUARANTINE", "FAIL", "DROP"))}

    # small nodes

    def _placed(self, node: E, start: Token) -> E:
        """Remember that a node reaches from a token to the last one read."""
        node.update_positions(
            line=start.line, col=start.col, start=start.start, end=max(start.end, self._prev.end)
        )
        return node

    def _wrapped(self, item: Callable[[], T]) -> list[T]:
        """Parse ``( item, … )`` with at least one item."""
        self._expect(TokenType.L_PAREN, '"("')
        items = [item()]
        while self._match(TokenType.COMMA):
            items.append(item())
        if not self._match(TokenType.R_PAREN):
            self.fail_near(hint='expected "," or ")" here')
        return items

    def _identifier(self, what: str) -> exp.Identifier:
        name = self._parse_id_var(any_token=False)
        if not isinstance(name, exp.Identifier):
            self.fail_near(hint=f"expected {what} here")
        return name

    def _column_name(self) -> exp.Identifier:
        return self._identifier("a column name")

    def _new_name(self, what: str) -> exp.Identifier:
        """Parse the name of an object to create and hold it against the pattern."""
        start = self._curr
        name = self._identifier(f"the name of the {what}")
        if self._curr and self._curr.token_type == TokenType.DOT:
            hint = "the namespace comes from headwater.toml"
            self.fail("BAD_NAME", f"the name of a {what} has one part", hint=hint)
        text = name.name.lower()
        if not NAME_PATTERN.fullmatch(text):
            hint = "use letters, digits and _, a letter first, at most 63 characters"
            message = f'"{name.name[:80]}" cannot be the name of a {what}'
            self.fail("BAD_NAME", message, hint=hint, token=start)
        for suffix in RESERVED_SUFFIXES:
            if text.endswith(suffix):
                message = f'the name "{text}" ends in {suffix}, which is reserved'
                self.fail("BAD_NAME", message, hint="choose another name", token=start)
        return name

    def _text(self, what: str) -> str:
        if not self._match(TokenType.STRING):
            self.fail_near(hint=f"expected {what} in single quotes here")
        return str(self._prev.text)

    def _fixed_interval(self, *, signed: bool = False) -> exp.Interval:
        """Parse ``INTERVAL '10' SECOND``, or one of its other spellings, into that form.

        Args:
            signed: whether it may be below zero.
        """
        start = self._curr
        usage = "write it as INTERVAL '10' SECOND"
        if not self._match(TokenType.INTERVAL):
            self.fail_near(hint="expected an interval here: INTERVAL '10' SECOND")
        if not self._match_set((TokenType.STRING, TokenType.NUMBER)):
            self.fail_near(hint=usage)
        token = self._prev
        amount, _, unit = token.text.strip().partition(" ")
        if whole := interval_text.read(token.text):
            amount, unit = whole
        elif not unit and token.token_type == TokenType.STRING and self._counts_seconds():
            unit = "SECOND"
        if not unit and self._curr and self._curr.token_type not in self.TEXT_MATCH_EXCLUDED_TOKENS:
            token, unit = self._curr, self._word()
            self._advance()
        unit = interval_text.unit_of(unit.strip()) or unit.strip().upper()
        is_number = _NUMBER.fullmatch(amount.removeprefix("-") if signed else amount)
        if not is_number or unit not in UNITS:
            near = nearest(unit, UNITS)
            hint = f"did you mean {near}?" if near and is_number else usage
            token = token or self._prev
            self.fail("SYNTAX_ERROR", "the interval is not valid", hint=hint, token=token)
        node = exp.Interval(this=exp.Literal.string(amount), unit=exp.var(unit))
        return self._placed(node, start)

    def _counts_seconds(self) -> bool:
        """Whether no unit stands here, which is the second in PostgreSQL."""
        behind = self._word() if self._curr else ""
        return isinstance(self.dialect, Postgres) and not interval_text.unit_of(behind)

    def _options(self) -> list[OptionClause]:
        """Parse ``( name = value, … )``; a name may have dots or stand in quotes."""
        options = self._wrapped(self._option)
        seen: set[str] = set()
        for option in options:
            if option.this in seen:
                message = f'option "{option.this}" is given twice'
                start, end = option.meta["start"], option.meta["end"] + 1
                raise DialectError("DUPLICATE_OPTION", message, "remove one", start, end)
            seen.add(option.this)
        return options

    def _option(self) -> OptionClause:
        start = self._curr
        if self._match_set((TokenType.STRING, TokenType.IDENTIFIER)):
            name = self._prev.text
        else:
            parts = [self._option_word()]
            while self._match(TokenType.DOT):
                parts.append(self._option_word())
            name = ".".join(parts).lower()
        end = self._prev
        if not self._match(TokenType.EQ):
            self.fail_near(hint=f"expected = and a value for option {name}")
        node = OptionClause(this=name, expression=self._option_value(name))
        node.update_positions(line=start.line, col=start.col, start=start.start, end=end.end)
        return node

    def _option_word(self) -> str:
        if not _WORD.fullmatch(self._word()):
            self.fail_near(hint="expected the name of an option here")
        self._advance()
        return str(self._prev.text)

    def _option_value(self, name: str) -> exp.Expr:
        start = self._curr
        if self._match(TokenType.STRING):
            return self._placed(exp.Literal.string(self._prev.text), start)
        sign = "-" if self._match(TokenType.DASH) else ""
        if self._match(TokenType.NUMBER):
            node = exp.Literal(this=sign + self._prev.text, is_string=False)
            return self._placed(node, start)
        if not sign and self._match_set((TokenType.TRUE, TokenType.FALSE)):
            value = self._prev.token_type == TokenType.TRUE
            return self._placed(exp.Boolean(this=value), start)
        kinds = "a string in single quotes, a number, TRUE or FALSE"
        return self.fail_near(hint=f"the value of option {name} is {kinds}")

    # clauses

    def _clauses(
        self, parsers: Mapping[str, Clause], statement: str, stop: Callable[[], bool]
    ) -> dict[str, Any]:
        """Parse clauses in any order, each at most once, and return the arguments they give."""
        found: dict[str, Any] = {}
        seen: set[str] = set()
        while self._curr and not stop():
            start = self._curr
            phrase = self._match_any_words(parsers)
            if not phrase:
                self._unknown_clause(parsers, statement)
            if phrase in seen:
                message = f"{phrase} is given twice"
                self.fail("DUPLICATE_CLAUSE", message, hint="remove one of them", token=start)
            seen.add(phrase)
            found.update(parsers[phrase](self))
        return found

    def _unknown_clause(self, parsers: Mapping[str, Clause], statement: str) -> NoReturn:
        for phrase, hint in MISPLACED.items():
            if self._match_words(phrase, advance=False):
                message = f"{phrase} does not belong here"
                self.fail("MISPLACED_CLAUSE", message, hint=hint)
        if not _WORD.match(self._word()):
            self.fail_near()
        near = self._nearest_words(parsers)
        hint = f"did you mean {near}?" if near else f"known here: {', '.join(parsers)}"
        message = f'unknown clause "{self._curr.text}" in {statement}'
        self.fail("UNKNOWN_CLAUSE", message, hint=hint)
