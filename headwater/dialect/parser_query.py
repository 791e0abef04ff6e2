"""Queries: ``MATCH_RECOGNIZE … WITHIN``, stricter lists.

In: the tokens of a query in any of the accepted dialects. Out: sqlglot's query tree with
:class:`~headwater.dialect.syntax.WindowTable` where a table stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Any

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect import interval_text
from headwater.dialect.parser_base import E
from headwater.dialect.parser_window import WindowParser
from headwater.dialect.syntax import GIVEN, MatchRecognize, ProcessingMode
from headwater.dialect.vocabulary import UNITS

_INTERVAL_UNITS = frozenset((*UNITS, *(f"{unit}S" for unit in UNITS)))

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


_BEFORE_BRACKETS = {"MATCH_CONDITION": TokenType.MATCH_CONDITION, "SESSION": TokenType.VAR}
"""Words that sqlglot 30.30.0 reads otherwise before ``(``: as an alias, or as no function."""


def read_words(tokens: list[Token]) -> None:
    """Say what some words are that a bracket follows, and write LEFT behind ASOF.

    Args:
        tokens: those of a statement; changed in place.
    """
    for at, (token, following) in enumerate(pairwise(tokens)):
        quoted = token.token_type == TokenType.IDENTIFIER
        if following.token_type == TokenType.L_PAREN and not quoted:
            kind = _BEFORE_BRACKETS.get(token.text.upper())
            token.token_type = kind or token.token_type
        if (token.token_type, following.token_type) == (TokenType.LEFT, TokenType.ASOF):
            tokens[at : at + 2] = following, token  # sqlglot 30.30.0 reads ASOF LEFT JOIN only


class QueryParser(WindowParser):
    """Query syntax beyond the dialect it is mixed into."""

    ROWS_PER_MATCH = (
        "ONE ROW PER MATCH",
        "ALL ROWS PER MATCH SHOW EMPTY MATCHES",
        "ALL ROWS PER MATCH OMIT EMPTY MATCHES",
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        "ALL ROWS PER MATCH",
    )

    def _parse_interval(
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> exp.Add | exp.Interval | None:
        # sqlglot reads INTERVAL '1' DAY + 2 as a sum of two intervals; in Trino it is not
        index = self._index
        if not self._match(TokenType.INTERVAL):
            return None
        if (whole := self._interval_text()) is not None:
            return whole
        amount = (
            self._parse_primary()
            if self._curr.token_type == TokenType.STRING
            else self._parse_unary()
        )
        named = isinstance(amount, exp.Column) and self._word() not in _INTERVAL_UNITS
        if amount is None or named:
            self._retreat(index)
            return None
        return self._parse_interval_span(amount, parse_function_unit=parse_function_unit)

    def _interval_text(self) -> exp.Interval | None:
        """An interval whose unit is in its text, or is the second as in PostgreSQL."""
        if not self._curr or self._curr.token_type != TokenType.STRING:
            return None
        start, text = self._curr, self._curr.text
        behind = self._next.text.upper() if self._next else ""
        if interval_text.is_plain(text):
            if interval_text.unit_of(behind) or not isinstance(self.dialect, Postgres):
                return None
            found: tuple[str, str] | None = (text.strip(), "SECOND")
        else:
            found = None if behind in _INTERVAL_UNITS else interval_text.read(text)
        if found is None:
            hint = "write it as INTERVAL '10' SECOND"
            self.fail("SYNTAX_ERROR", "the interval is not valid", hint=hint, token=start)
        self._advance()
        amount, unit = exp.Literal.string(found[0]), exp.var(found[1])
        return self._placed(exp.Interval(this=amount, unit=unit), start)

    def _parse_with(self, skip_with_token: bool = False) -> exp.With | None:
        """Read ``WITH MUTUALLY RECURSIVE r (a bigint) AS (…)`` of Materialize, too."""
        if skip_with_token or self._words_ahead(3) != "WITH MUTUALLY RECURSIVE":
            return super()._parse_with(skip_with_token)
        for _ in range(3):
            self._advance()
        if self._curr and self._curr.token_type == TokenType.L_PAREN:
            hint = "write WITH (max_recursion_depth = 50) behind the name of the view"
            self.fail_near(hint=hint)
        clause = super()._parse_with(skip_with_token=True)
        if clause is not None:
            clause.set("recursive", True)
        return clause

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
            call = super()._parse_function_call(functions, anonymous, optional_parens, any_token)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            # sqlglot's builders take their arguments without counting them
            hint = "look at their number and types"
            message = f"the arguments of {start.text.upper()} are not valid"
            return self.fail("SYNTAX_ERROR", message, hint=hint, token=start)
        if call is not None and self._prev is start:  # current_date, without brackets
            return self._placed(call, start)
        return call

    def _parse_primary(self) -> exp.Expr | None:
        first, second = self._curr, self._next
        if first and second and first.token_type == second.token_type == TokenType.STRING:
            message = "two texts stand beside one another"
            hint = "write || between them, or '' for a quote in a text"
            return self.fail("SYNTAX_ERROR", message, hint=hint, token=second)
        return super()._parse_primary()

    def _parse_bracket(self, this: exp.Expr | None = None) -> exp.Expr | None:
        start = self._curr
        found = super()._parse_bracket(this)
        if start and start.token_type == TokenType.L_BRACE and isinstance(found, exp.Struct):
            named = all(isinstance(each, exp.PropertyEQ) for each in found.expressions)
            if this is not None or not named:
                message = "these brackets are no row with named fields"
                self.fail("SYNTAX_ERROR", message, hint="write {'x': a, 'y': b}", token=start)
        return found

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
