"""Window table functions in FROM: ``TUMBLE``, ``HOP``, ``CUMULATE``, ``SESSION``.

In: the tokens of a call, with its parameters in order or by Flink's names, in ``TABLE(…)`` or not.
Out: :class:`~headwater.dialect.syntax.WindowTable` where a table stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect.parser_length import LengthParser
from headwater.dialect.syntax import WindowTable
from headwater.errors.nearest import nearest
from headwater.errors.words import count


@dataclass(slots=True)
class _Call:
    """What a call was given so far."""

    start: Token
    kind: str
    lengths: tuple[str, ...]
    usage: str
    source: exp.Expr | None = None
    keys: list[exp.Expr] = field(default_factory=list)
    time: exp.Column | None = None
    found: dict[str, exp.Expr] = field(default_factory=dict)


class WindowParser(LengthParser):
    """Window table functions beyond the dialect this is mixed into."""

    # kind -> its lengths in order; an offset may follow, but not in a session
    WINDOW_TABLES: Mapping[str, tuple[str, ...]] = {
        "TUMBLE": ("size",),  # or with a time zone
        "HOP": ("slide", "size"),
        "CUMULATE": ("step", "size"),
        "SESSION": ("gap",),
    }

    def _window_table_ahead(self) -> bool:
        index, word = self._index, self._word()
        if word == "TABLE" and self._next.token_type == TokenType.L_PAREN:
            self._advance(2)
            word = self._word()
        found = word in self.WINDOW_TABLES and self._next.token_type == TokenType.L_PAREN
        self._retreat(index)
        return bool(found)

    def _parse_window_table(
        self, joins: bool, alias_tokens: Collection[TokenType] | None
    ) -> exp.Table:
        wrapped = self._match_words("TABLE")
        if wrapped:
            self._match(TokenType.L_PAREN)
        table = exp.Table(this=self._parse_window_call())
        if wrapped:
            self._expect(TokenType.R_PAREN, '")"')
        alias = self._parse_table_alias(alias_tokens=alias_tokens or self.TABLE_ALIAS_TOKENS)
        if alias:
            table.set("alias", alias)
        for join in self._parse_joins() if joins else ():
            table.append("joins", join)
        return table

    def _parse_window_call(self) -> WindowTable:
        start, kind = self._curr, self._word()
        lengths = self.WINDOW_TABLES[kind]
        call = _Call(start, kind, lengths, f"{kind}({', '.join(('t', 'ts', *lengths))})")
        self._advance(2)
        if self._parameter_ahead():
            self._parse_named(call)
        else:
            self._parse_in_order(call)
        node = WindowTable(
            kind=kind.lower(),
            this=call.source,
            time=call.time,
            size=call.found[lengths[-1]],
            slide=call.found[lengths[0]] if len(lengths) > 1 else None,
            offset=call.found.get("offset"),
            partition_by=call.keys or None,
            zone=call.found.get("zone"),
        )
        return self._placed(node, start)

    def _parse_in_order(self, call: _Call) -> None:
        call.source = self._parse_window_input(call.usage)
        call.keys, call.time = self._parse_window_keys()
        if call.time is None:
            self._expect(TokenType.COMMA, f'"," ({call.usage})')
            call.time = self._parse_window_time(call.usage)
        given: list[exp.Interval] = []
        names = (*call.lengths, "offset")
        while self._match(TokenType.COMMA):
            if call.kind == "TUMBLE" and given and self._match(TokenType.STRING):
                call.found["zone"] = self._placed(exp.Literal.string(self._prev.text), self._prev)
                break
            if self._parameter_ahead():
                self.fail_near(hint="name every parameter, or none")
            given.append(self._parse_length(call.kind, names[min(len(given), len(names) - 1)]))
        if not self._match(TokenType.R_PAREN):
            self.fail_near(hint='expected "," or ")" here')
        least = len(call.lengths)
        if not least <= len(given) <= least + (call.kind != "SESSION"):
            message = f"{call.kind} takes {count(least, 'interval')}, not {len(given)}"
            self.fail("SYNTAX_ERROR", message, hint=f"write {call.usage}", token=call.start)
        call.found.update(zip(names, given, strict=False))

    def _parse_named(self, call: _Call) -> None:
        """Parse Flink's ``DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SIZE => …``."""
        known = ["DATA", "TIMECOL", *map(str.upper, call.lengths)]
        optional = [] if call.kind == "SESSION" else ["OFFSET"]
        seen: set[str] = set()
        while True:
            token, name = self._curr, self._word()
            if not self._parameter_ahead():
                self.fail_near(hint="name every parameter, or none")
            if name not in known + optional:
                near = nearest(name, known + optional, 0.7)
                hint = f"did you mean {near}?" if near else f"known: {', '.join(known + optional)}"
                message = f'{call.kind} has no parameter "{token.text}"'
                self.fail("SYNTAX_ERROR", message, hint=hint, token=token)
            if name in seen:
                message = f"{name} is given twice"
                self.fail("SYNTAX_ERROR", message, hint="remove one of them", token=token)
            seen.add(name)
            self._advance(2)
            self._parse_argument(call, name)
            if not self._match(TokenType.COMMA):
                break
        if not self._match(TokenType.R_PAREN):
            self.fail_near(hint='expected "," or ")" here')
        if missing := [name for name in known if name not in seen]:
            message = f"{call.kind} needs {' and '.join(missing)}"
            names = ", ".join(f"{name} => …" for name in known)
            self.fail("SYNTAX_ERROR", message, hint=f"write {names}", token=call.start)

    def _parse_argument(self, call: _Call, name: str) -> None:
        if name == "DATA":
            call.source = self._parse_window_input(call.usage)
            if self._match_words("PARTITION BY"):
                call.keys = [self._window_column()]
                while self._curr.token_type == TokenType.COMMA and not self._parameter_ahead(1):
                    self._advance()
                    call.keys.append(self._window_column())
        elif name == "TIMECOL":
            call.time = self._parse_window_time(call.usage)
        else:
            call.found[name.lower()] = self._parse_length(call.kind, name.lower())

    def _parameter_ahead(self, skip: int = 0) -> bool:
        """Return whether ``name =>`` follows, after some tokens."""
        after = self._tokens[self._index + skip : self._index + skip + 2]
        return len(after) == 2 and after[1].token_type == TokenType.FARROW

    def _parse_window_keys(self) -> tuple[list[exp.Expr], exp.Column | None]:
        """Parse ``PARTITION BY k, …`` up to the time; the last name before an interval is one."""
        keys: list[exp.Expr] = []
        if not self._match_words("PARTITION BY"):
            return keys, None
        keys.append(self._window_column())
        while self._curr.token_type == TokenType.COMMA:
            if self._next.text.upper() in ("DESCRIPTOR", "INTERVAL"):
                break
            self._advance()
            keys.append(self._window_column())
        if self._curr.token_type != TokenType.COMMA:
            self.fail_near(hint="after PARTITION BY, write the time and an interval")
        if self._next.text.upper() == "DESCRIPTOR":
            return keys, None
        *keys, time = keys
        assert isinstance(time, exp.Column)
        if not keys:
            self.fail_near(hint="after PARTITION BY k, write the time: PARTITION BY k, ts")
        return keys, time

    def _window_column(self) -> exp.Column:
        start = self._curr
        return self._placed(exp.Column(this=self._column_name()), start)

    def _parse_window_input(self, usage: str) -> exp.Expr:
        named = self._match(TokenType.TABLE) and self._curr.token_type != TokenType.L_PAREN
        if named and not self._window_table_ahead():
            return exp.Table(this=self._identifier("the name of a table"))
        if not self._curr or self._curr.token_type == TokenType.COMMA:
            self.fail_near(hint=f"expected a table here: {usage}")
        source = self._parse_table()
        if not isinstance(source, exp.Table | exp.Subquery):
            self.fail_near(hint=f"expected a table or a subquery here: {usage}")
        if source.args.get("alias"):
            hint = f"give the window a name, not its input: {usage} AS w"
            self.fail_near(self._prev, hint)
        return source

    def _parse_window_time(self, usage: str) -> exp.Column:
        described = self._match_words("DESCRIPTOR")
        if described:
            self._expect(TokenType.L_PAREN, '"("')
        start = self._curr
        if self._word() == "PROCTIME":
            message = (
                "PROCTIME is refused: the clock is not part of the data: a replay would differ"
            )
            hint = "use the event-time column of the table"
            self.fail("NON_DETERMINISTIC", message, hint=hint)
        column = self._parse_column()
        if not isinstance(column, exp.Column):
            self.fail_near(start, f"expected the event-time column here: {usage}")
        if described:
            self._expect(TokenType.R_PAREN, '")"')
        return column
