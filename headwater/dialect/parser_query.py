"""Queries: window table functions, ``MATCH_RECOGNIZE … WITHIN``, stricter lists.

In: the tokens of a query in any of the accepted dialects. Out: sqlglot's query tree with
:class:`~headwater.dialect.syntax.WindowTable` where a table stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect.parser_base import ClauseParser, E
from headwater.dialect.syntax import GIVEN, MatchRecognize, ProcessingMode, WindowTable

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def mark_match_conditions(tokens: list[Token]) -> None:
    """Mark the word that sqlglot 30.30.0 knows in Snowflake's dialect only: no alias, but a clause.

    Args:
        tokens: those of a statement; changed in place.
    """
    for token, following in pairwise(tokens):
        if following.token_type == TokenType.L_PAREN and token.text.upper() == "MATCH_CONDITION":
            token.token_type = TokenType.MATCH_CONDITION


class QueryParser(ClauseParser):
    """Query syntax beyond the dialect it is mixed into."""

    # kind -> (intervals without the optional offset, whether an offset may follow, usage)
    WINDOW_TABLES: Mapping[str, tuple[int, bool, str]] = {
        "TUMBLE": (1, True, "TUMBLE(t, ts, size)"),  # or with a time zone
        "HOP": (2, True, "HOP(t, ts, slide, size)"),
        "CUMULATE": (2, True, "CUMULATE(t, ts, step, size)"),
        "SESSION": (1, False, "SESSION(t, ts, gap)"),
    }

    ROWS_PER_MATCH = (
        "ONE ROW PER MATCH",
        "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
        "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        "ALL ROWS PER MATCH",
    )

    def _parse_table(
        self,
        schema: bool = False,
        joins: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
        parse_bracket: bool = False,
        is_db_reference: bool = False,
        parse_partition: bool = False,
        consume_pipe: bool = False,
    ) -> exp.Expr | None:
        if self._word() == "STREAM" and self._next.token_type in (
            TokenType.VAR,
            TokenType.IDENTIFIER,
        ):
            hint = f"write FROM {self._next.text}: every view reads its inputs as they change"
            self.fail_near(hint=hint)
        if self._window_table_ahead():
            return self._parse_window_table(joins, alias_tokens)
        table = super()._parse_table(
            schema=schema,
            joins=joins,
            alias_tokens=alias_tokens,
            parse_bracket=parse_bracket,
            is_db_reference=is_db_reference,
            parse_partition=parse_partition,
            consume_pipe=consume_pipe,
        )
        if isinstance(table, exp.Table) and not table.args.get("version"):
            table.set("version", self._parse_version())
        return table

    def _parse_table_alias(
        self, alias_tokens: Collection[TokenType] | None = None
    ) -> exp.TableAlias | None:
        index = self._index
        alias = super()._parse_table_alias(alias_tokens)
        if alias is None and self._index > index:
            self.fail_near(hint="expected a name after AS")
        return alias

    def _parse_join(
        self,
        skip_join_token: bool = False,
        parse_bracket: bool = False,
        alias_tokens: Collection[TokenType] | None = None,
    ) -> exp.Join | None:
        index, comma = self._index, self._curr and self._curr.token_type == TokenType.COMMA
        join = super()._parse_join(skip_join_token, parse_bracket, alias_tokens)
        if join is None and self._index > index:
            self._parse_table(alias_tokens=alias_tokens)  # says what is wrong behind the comma
            self.fail_near(hint="expected a table here")
        if join and not join.args.get("on") and self._prev.token_type == TokenType.ON:
            self.fail_near(hint="expected a condition after ON")
        if join and not comma and set(join.args) <= {"this"}:
            join.set("kind", "CROSS")  # JOIN without ON, which would print as a comma
        return join

    def _parse_function_call(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        start = self._curr
        try:
            return super()._parse_function_call(functions, anonymous, optional_parens, any_token)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # sqlglot's builders take their arguments without counting them
            hint = "look at their number and types"
            message = f"the arguments of {start.text.upper()} are not valid"
            return self.fail("SYNTAX_ERROR", message, hint=hint, token=start)

    def _parse_primary(self) -> exp.Expr | None:
        first, second = self._curr, self._next
        if first and second and first.token_type == second.token_type == TokenType.STRING:
            message = "two texts stand beside one another"
            hint = "write || between them, or '' for a quote in a text"
            return self.fail("SYNTAX_ERROR", message, hint=hint, token=second)
        return super()._parse_primary()

    def validate_expression(self, expression: E, args: list[Any] | None = None) -> E:
        """Check a node as sqlglot does, and note how many arguments a function was given.

        Its builders leave out what they do not know, such as a time zone for ``date_trunc``.
        """
        checked: E = super().validate_expression(expression, args)
        if args:
            checked.meta[GIVEN] = len(args)
        return checked

    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        window = super()._parse_window(this, alias)
        if isinstance(window, exp.Window) and self._prev.token_type == TokenType.OVER:
            self.fail_near(hint='expected "(" or the name of a window after OVER')
        return window

    # window table functions

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
        count, has_offset, usage = self.WINDOW_TABLES[kind]
        self._advance(2)
        source = self._parse_window_input(usage)
        partition_by, time = self._parse_window_keys()
        if time is None:
            self._expect(TokenType.COMMA, f'"," ({usage})')
            time = self._parse_window_time(usage)
        intervals: list[exp.Interval] = []
        zone = None
        while self._match(TokenType.COMMA):
            if kind == "TUMBLE" and intervals and self._match(TokenType.STRING):
                zone = self._placed(exp.Literal.string(self._prev.text), self._prev)
                break
            intervals.append(self._fixed_interval())
        if not self._match(TokenType.R_PAREN):
            self.fail_near(hint='expected "," or ")" here')
        if not count <= len(intervals) <= count + has_offset:
            message = f"{kind} takes {count} interval{'s' * (count > 1)}, not {len(intervals)}"
            self.fail("SYNTAX_ERROR", message, hint=f"write {usage}", token=start)
        node = WindowTable(
            kind=kind.lower(),
            this=source,
            time=time,
            size=intervals[count - 1],
            slide=intervals[0] if count == 2 else None,
            offset=intervals[count] if len(intervals) > count else None,
            partition_by=partition_by or None,
            zone=zone,
        )
        return self._placed(node, start)

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

    # MATCH_RECOGNIZE

    def _parse_match_recognize(self) -> MatchRecognize | None:
        if not self._match(TokenType.MATCH_RECOGNIZE):
            return None
        self._expect(TokenType.L_PAREN, '"("')
        args: dict[str, Any] = {
            "partition_by": self._parse_partition_by() or None,
            "order": self._parse_order(),
        }
        if self._match_words("MEASURES"):
            args["measures"] = self._parse_csv(self._parse_match_recognize_measure)
        if rows := self._match_any_words(self.ROWS_PER_MATCH):
            args["rows"] = exp.var(rows)
        args["after"] = self._parse_after_match()
        self._expect_words("PATTERN")
        args["pattern"] = self._parse_row_pattern()
        if self._match_words("WITHIN"):
            args["within"] = self._fixed_interval()
        if self._match_words("SUBSET"):
            args["subset"] = self._parse_csv(self._parse_disjunction)
        self._expect_words("DEFINE")
        args["define"] = self._parse_csv(self._parse_name_as_expression)
        if not self._match(TokenType.R_PAREN):
            self.fail_near(hint='expected ")" to close MATCH_RECOGNIZE')
        return self.expression(MatchRecognize(**args, alias=self._parse_table_alias()))

    def _parse_match_recognize_measure(self) -> exp.MatchRecognizeMeasure:
        return self.expression(exp.MatchRecognizeMeasure(this=self._parse_expression()))

    def _parse_column_parts_fast(self) -> exp.Column | exp.Dot | None:
        return None if self._processing_mode() else super()._parse_column_parts_fast()

    def _parse_function(
        self,
        functions: dict[str, Callable[..., Any]] | None = None,
        anonymous: bool = False,
        optional_parens: bool = True,
        any_token: bool = False,
    ) -> exp.Expr | None:
        start, mode = self._curr, self._processing_mode()
        if mode:
            self._advance()
        found = super()._parse_function(functions, anonymous, optional_parens, any_token)
        return self._placed(ProcessingMode(this=found, mode=mode), start) if mode else found

    def _processing_mode(self) -> str:
        """Return FINAL or RUNNING if it stands before a call: ``FINAL LAST(a.x)``."""
        after = self._tokens[self._index + 1 : self._index + 3]
        call = len(after) == 2 and after[1].token_type == TokenType.L_PAREN
        word = self._word() if call and after[0].token_type in self.FUNC_TOKENS else ""
        return word if word in ("FINAL", "RUNNING") else ""

    def _parse_after_match(self) -> exp.Var | None:
        if not self._match_words("AFTER MATCH SKIP"):
            return None
        start = self._prev
        where = ("PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST", "TO")
        text = self._choice("AFTER MATCH SKIP", where).upper()
        if text in ("TO FIRST", "TO LAST", "TO"):
            # Trino 476 fails with an internal error if the variable is not in upper case
            text = f"{text} {self._identifier('a pattern variable').name.upper()}"
        return self._placed(exp.var(f"AFTER MATCH SKIP {text}"), start)

    def _parse_row_pattern(self) -> exp.Var:
        """Keep the pattern as text: sqlglot has no nodes for it."""
        self._expect(TokenType.L_PAREN, '"("')
        if self._curr.token_type == TokenType.R_PAREN:
            self.fail_near(hint="the pattern is empty")
        start, depth = self._curr, 1
        while self._curr:
            depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(self._curr.token_type, 0)
            if depth == 0:
                break
            self._advance()
        end: Token = self._prev
        if not self._match(TokenType.R_PAREN):
            self.fail_near(hint='expected ")" to close PATTERN')
        text = _COMMENT.sub(" ", self._find_sql(start, end))
        pattern = exp.var(" ".join(text.split()).lower())
        pattern.meta.update(start=start.start, end=end.end)
        return pattern

    # stricter than sqlglot

    def _parse_projections(self) -> tuple[list[exp.Expr], list[exp.Expr] | None]:
        projections, exclude = super()._parse_projections()
        if not projections:
            self.fail_near(hint="SELECT needs at least one column")
        return projections, exclude

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:
        # GROUP BY window(…): the word would be taken for the WINDOW clause
        after = self._tokens[self._index + 1 : self._index + 3]
        if (
            self._curr.token_type == TokenType.GROUP_BY
            and len(after) == 2
            and after[0].token_type == TokenType.WINDOW
            and after[1].token_type == TokenType.L_PAREN
        ):
            after[0].token_type = TokenType.VAR
            self._advance(0)
        group = super()._parse_group(skip_group_by_token)
        if group and not any(group.args.values()):
            self.fail_near(hint="GROUP BY needs at least one key")
        return group
