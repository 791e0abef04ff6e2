"""``CREATE STREAMING VIEW``.

In: the tokens of one statement. Out: a :class:`~headwater.dialect.syntax.CreateStreamingView` whose
``expression`` is the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect.parser_base import Clause, ClauseParser
from headwater.dialect.parser_ddl import DdlParser
from headwater.dialect.syntax import CreateStreamingView, LateRowsClause, ViewColumn, ViewConstraint
from headwater.dialect.vocabulary import MISPLACED, DialectError
from headwater.errors.nearest import nearest

EMISSIONS = {
    "CHANGES": "changes",
    "ON WINDOW CLOSE": "on window close",
    "AFTER WINDOW CLOSE": "on window close",
    "FINAL": "on window close",
}
# What cannot be the end of a query: EMIT behind it is a column or a table of that name.
_BEFORE_A_NAME = {
    *(TokenType.DOT, TokenType.ALIAS, TokenType.COMMA),
    *(TokenType.SELECT, TokenType.FROM, TokenType.JOIN),
}
_BEFORE_AN_OPERAND = {
    *(TokenType.ON, TokenType.WHERE, TokenType.HAVING, TokenType.QUALIFY),
    *(TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.DPIPE),
    *(*Parser.CONJUNCTION, *Parser.DISJUNCTION, *Parser.UNARY_PARSERS),
    *(*Parser.EQUALITY, *Parser.COMPARISON, *Parser.BITWISE, *Parser.TERM, *Parser.FACTOR),
    *(TokenType.BETWEEN, TokenType.LIKE, TokenType.ILIKE),
}
TRANSFORMS = {
    "DAY": "day",
    "DAYS": "day",
    "HOUR": "hour",
    "HOURS": "hour",
    "MONTH": "month",
    "MONTHS": "month",
    "YEAR": "year",
    "YEARS": "year",
    "BUCKET": "bucket",
    "TRUNCATE": "truncate",
}


class ViewParser(DdlParser, ClauseParser):
    """The statement that the others serve."""

    VIEW_CLAUSES: Mapping[str, Clause] = {
        "COMMENT": lambda self: {"comment": self._text("a comment")},
        "PARTITIONED BY": lambda self: {"partitioned_by": self._wrapped(self._parse_partition_key)},
        "FRESHNESS": lambda self: self._parse_freshness(),
        "LATE ROWS": lambda self: {"late": self._parse_late_rows()},
        "START FROM": lambda self: {"start_from": self._parse_start_from()},
        "ON ERROR": lambda self: self._parse_on_error(),
        "WITH": lambda self: {"options": self._options()},
    }

    def _parse_create_streaming_view(self, replace: bool) -> CreateStreamingView:
        args: dict[str, Any] = {"replace": replace, "exists": self._if_not_exists()}
        args["this"] = self._new_name("view")
        if self._curr.token_type == TokenType.L_PAREN:
            self._wrapped(lambda: self._parse_view_item(args))
        args |= self._clauses(
            self.VIEW_CLAUSES,
            "CREATE STREAMING VIEW",
            lambda: self._curr.token_type == TokenType.ALIAS,
        )
        if not self._match(TokenType.ALIAS):
            self.fail_near(hint="expected AS and a query here")
        start = self._index
        emit_at = self._find_emit()
        tokens, size = self._tokens, self._tokens_size
        if emit_at is not None:
            self._cut(tokens[:emit_at])
        try:
            args["expression"] = self._parse_body()
        except DialectError as error:
            self._blame_misplaced(tokens, start, error)
            raise
        if emit_at is not None:
            self._cut(tokens)
            args["emit"] = self._parse_emit()
        assert self._tokens_size == size
        return self.expression(CreateStreamingView(**args))

    def _cut(self, tokens: list[Token]) -> None:
        """Go on with other tokens, of which the ones already read are the same."""
        self._tokens, self._tokens_size = tokens, len(tokens)
        self._advance(0)

    def _parse_body(self) -> exp.Query:
        start = self._curr
        if not start:
            self.fail_near(hint="expected a query here")
        query = self._parse_rows()
        if self._curr:
            self.fail_near()
        if not isinstance(query, exp.Query):
            self.fail_near(start, "expected a query here")
        return query

    def _parse_rows(self) -> exp.Expr | None:
        """Read a query, without the brackets around it; a list of values becomes one."""
        query = self._parse_ddl_select()
        while isinstance(query, exp.Subquery) and query.is_wrapper:
            query = query.this
        return self._values_to_select(query) if isinstance(query, exp.Values) else query

    # what comes before AS

    def _parse_view_item(self, args: dict[str, Any]) -> None:
        start = self._curr
        if self._match_words("PRIMARY KEY"):
            self._once(args, "primary_key", "PRIMARY KEY", self._parse_key(), start)
        elif self._match_words("CONSTRAINT"):
            args.setdefault("constraints", []).append(self._parse_view_constraint(start))
        else:
            args.setdefault("columns", []).append(self._parse_view_column())

    def _parse_view_column(self) -> ViewColumn:
        start, near = self._curr, self._nearest_words(("PRIMARY KEY", "CONSTRAINT"))
        name = self._column_name()
        if self._curr.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            return ViewColumn(this=name)
        if not self._match_words("COMMENT"):
            if near:
                self.fail_near(start, f"did you mean {near}?")
            self.fail_near(hint="expected COMMENT '…' here; types come from the query")
        return ViewColumn(this=name, comment=self._text("a comment"))

    def _parse_view_constraint(self, start: Token) -> ViewConstraint:
        name = self._identifier("the name of the constraint")
        self._expect_words("CHECK")
        self._expect(TokenType.L_PAREN, '"("')
        condition = self._parse_disjunction() or self.fail_near(hint="expected a condition here")
        self._expect(TokenType.R_PAREN, '")"')
        action = None
        if self._match_words("ON VIOLATION"):
            action = self._choice("ON VIOLATION", ("FAIL", "DROP ROW", "QUARANTINE"))
        node = ViewConstraint(this=name, expression=condition, on_violation=action)
        return self._placed(node, start)

    def _parse_partition_key(self) -> exp.Expr:
        start = self._curr
        if self._next.token_type != TokenType.L_PAREN:
            return exp.Column(this=self._column_name())
        function = TRANSFORMS.get(self._word())
        if function is None:
            near = self._nearest_words(TRANSFORMS)
            known = "day, hour, month, year, bucket(n, c), truncate(n, c)"
            hint = f"did you mean {near.lower()}?" if near else f"partition by a column or {known}"
            message = f'partition transform "{start.text}" is not known'
            self.fail("UNKNOWN_CLAUSE", message, hint=hint)
        self._advance(2)
        args: list[exp.Expr] = []
        if function in ("bucket", "truncate"):
            if not self._match(TokenType.NUMBER):
                self.fail_near(hint=f"expected a number here: {function}(16, column)")
            args.append(exp.Literal.number(self._prev.text))
            self._expect(TokenType.COMMA, '","')
        args.append(exp.Column(this=self._column_name()))
        self._expect(TokenType.R_PAREN, '")"')
        return self._placed(exp.Anonymous(this=function, expressions=args), start)

    def _parse_freshness(self) -> dict[str, Any]:
        self._match(TokenType.EQ)
        return {"freshness": self._fixed_interval()}

    def _parse_late_rows(self) -> LateRowsClause:
        start = self._tokens[self._index - 2]
        mode, allowed, into = "drop", None, None
        if self._word() != "INTO":
            mode = self._choice("LATE ROWS", ("DROP", "ACCEPT", "INTO"))
            if mode == "accept" and self._match_words("FOR"):
                allowed = self._fixed_interval()
        if self._match_words("INTO"):
            into = self._new_name("table of late rows")
        return self._placed(LateRowsClause(mode=mode, allowed=allowed, into=into), start)

    # what comes after the query

    def _outer_tokens(self, start: int) -> list[int]:
        """Return the indexes of the tokens from ``start`` on that stand outside brackets."""
        depth, found = 0, []
        for index in range(start, self._tokens_size):
            token_type = self._tokens[index].token_type
            if token_type == TokenType.R_PAREN:
                depth -= 1
            elif token_type == TokenType.L_PAREN:
                depth += 1
            elif depth == 0:
                found.append(index)
        return found

    def _find_emit(self) -> int | None:
        """Return where the EMIT clause starts, which the query would take for an alias."""
        follows = {phrase.split()[0] for phrase in EMISSIONS} | {"EVERY", "PERIODIC"}
        for index in self._outer_tokens(self._index):
            token = self._tokens[index]
            if token.text.upper() != "EMIT" or token.token_type in self.TEXT_MATCH_EXCLUDED_TOKENS:
                continue
            before = self._tokens[index - 1].token_type
            last = index + 1 == self._tokens_size
            if before in _BEFORE_A_NAME or (last and before in _BEFORE_AN_OPERAND):
                continue
            if last or nearest(self._tokens[index + 1].text, follows, 0.7):
                return index
        return None

    def _parse_emit(self) -> str:
        start = self._curr
        self._advance()
        if phrase := self._match_any_words(EMISSIONS):
            if self._curr and self._match_words("EMIT", advance=False):
                hint = "remove one of them"
                self.fail("DUPLICATE_CLAUSE", "EMIT is given twice", hint=hint)
            if self._curr:
                self.fail_near(hint="EMIT ends the statement")
            return EMISSIONS[phrase]
        known = ("CHANGES", "ON WINDOW CLOSE")
        hint = "write EMIT CHANGES or EMIT ON WINDOW CLOSE"
        if self._word() in ("EVERY", "PERIODIC"):
            hint = "write FRESHNESS INTERVAL '5' SECOND before AS"
        elif near := self._nearest_words(known):
            hint = f"did you mean EMIT {near}?"
        for word in known[1].split() if self._word() == "ON" else ():
            if self._word() != word:
                break
            self._advance()
        return self.fail_near(self._curr or start, hint)

    def _blame_misplaced(self, tokens: list[Token], start: int, error: DialectError) -> None:
        """Name the clause that stands after the query, if that is why the query failed."""
        at = self._index
        self._cut(tokens)
        for index in self._outer_tokens(start):
            if tokens[index].start > error.start:
                break
            self._retreat(index)
            for phrase, after in {
                "PARTITIONED BY": "(",
                "FRESHNESS": "INTERVAL",
                "FRESHNESS =": "INTERVAL",
                "LATE ROWS": "",
                "START FROM": "",
                "COMMENT": "",
                "PRIMARY KEY": "(",
            }.items():
                token = self._curr
                if self._match_words(phrase) and (not after or self._word() in (after, "")):
                    clause = phrase.removesuffix(" =")
                    message = f"{clause} does not belong here"
                    hint = MISPLACED[clause]
                    self.fail("MISPLACED_CLAUSE", message, hint=hint, token=token)
                self._retreat(index)
        self._retreat(at)
