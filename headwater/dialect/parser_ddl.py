"""The statements that are not views: sources, tables, sinks, functions, tests, ``DROP``.

In: the tokens of one statement. Out: its node (see ``syntax.py``). Clauses may come in any order,
each at most once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from headwater.dialect.parser_base import Clause, ClauseParser
from headwater.dialect.syntax import (
    AdaptiveWatermark,
    CreateFunction,
    CreateSink,
    CreateSource,
    DropStatement,
    SourceColumn,
    StartFromClause,
    WatermarkClause,
)
from headwater.errors.nearest import nearest

ENCODING_GROUP = "headwater.encodings"
"""The group of entry points whose names are encodings of installed packages."""


class DdlParser(ClauseParser):
    """The statements that are not views."""

    FORMATS = ("PLAIN", "UPSERT", "DEBEZIUM")
    ENCODINGS = ("JSON", "AVRO", "CSV", "PARQUET", "RAW")

    SOURCE_CLAUSES: Mapping[str, Clause] = {
        "COMMENT": lambda self: {"comment": self._text("a comment")},
        "WITH": lambda self: {"options": self._options()},
        "FORMAT": lambda self: self._parse_format(),
        "ON ERROR": lambda self: self._parse_on_error(),
        "ON SCHEMA CHANGE": lambda self: {
            "on_schema_change": self._choice("ON SCHEMA CHANGE", ("EVOLVE", "FAIL", "IGNORE"))
        },
        "START FROM": lambda self: {"start_from": self._parse_start_from()},
    }
    SINK_CLAUSES: Mapping[str, Clause] = {
        "WITH": lambda self: {"options": self._options()},
        "FORMAT": lambda self: self._parse_format(encoded=False),
    }
    FUNCTION_CLAUSES: Mapping[str, Clause] = {
        "RETURNS": lambda self: {"returns": self._parse_type_name()},
        "LANGUAGE": lambda self: {"language": self._choice("LANGUAGE", ("PYTHON", "SQL"))},
        "WITH": lambda self: {"options": self._options()},
    }
    DROP_KINDS = ("SOURCE", "TABLE", "STREAMING VIEW", "VIEW", "SINK", "FUNCTION")
    ADAPTIVE_PARTS = ("PERCENTILE", "MIN", "MAX")

    def _if_not_exists(self) -> bool:
        if self._word() != "IF":
            return False
        self._expect_words("IF NOT EXISTS")
        return True

    # CREATE SOURCE | TABLE

    def _parse_create_source(self, kept: bool, replace: bool) -> CreateSource:
        kind = "table" if kept else "source"
        args: dict[str, Any] = {"kept": kept, "replace": replace, "exists": self._if_not_exists()}
        args["this"] = self._new_name(kind)
        args["columns"] = []
        if self._curr.token_type == TokenType.L_PAREN:
            self._wrapped(lambda: self._parse_source_item(args))
        statement = f"CREATE {kind.upper()}"
        args |= self._clauses(self.SOURCE_CLAUSES, statement, self._after_source)
        return self.expression(CreateSource(**args))

    def _after_source(self) -> bool:
        if self._curr.token_type == TokenType.ALIAS:
            hint = "a table of the lake that follows a query is a CREATE STREAMING VIEW … AS"
            self.fail("MISPLACED_CLAUSE", "AS does not belong here", hint=hint)
        return False

    def _parse_source_item(self, args: dict[str, Any]) -> None:
        """Parse one entry of the list in brackets and store it."""
        start = self._curr
        if self._match_words("PRIMARY KEY"):
            self._once(args, "primary_key", "PRIMARY KEY", self._parse_key(), start)
        elif self._word() == "WATERMARK" and self._next.token_type == TokenType.FOR:
            self._advance(2)
            self._once(args, "watermark", "WATERMARK", self._parse_watermark(start), start)
        else:
            args["columns"].append(self._parse_source_column(args))

    def _once(
        self, args: dict[str, Any], key: str, phrase: str, value: object, start: Token
    ) -> None:
        if args.get(key) is not None:
            message = f"{phrase} is given twice"
            self.fail("DUPLICATE_CLAUSE", message, hint="remove one of them", token=start)
        args[key] = value

    def _parse_key(self) -> list[exp.Identifier]:
        names = self._wrapped(self._column_name)
        self._match_words("NOT ENFORCED")
        return names

    def _parse_source_column(self, args: dict[str, Any]) -> SourceColumn:
        start = self._curr
        name = self._identifier("a column, PRIMARY KEY or WATERMARK FOR")
        column = SourceColumn(this=name)
        if self._match(TokenType.ALIAS):
            computed = self._parse_disjunction()
            if computed is None:
                self.fail_near(hint="expected an expression after AS")
            column.set("computed", computed)
            if self._match_words("COMMENT"):
                column.set("comment", self._text("a comment"))
            return column
        forgotten = (
            self._curr.token_type == TokenType.FOR or self._next.token_type == TokenType.ALIAS
        )
        if forgotten and nearest(name.name, ["WATERMARK"], 0.7):
            self.fail_near(start, "write WATERMARK FOR column AS …")
        column.set("kind", self._parse_type_name())
        while self._curr and self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN):
            self._parse_column_rest(column, args)
        if column.args.get("metadata") and column.args.get("field"):
            message = "a column is METADATA or a field"
            hint = "remove METADATA FROM, or FROM"
            self.fail("DUPLICATE_CLAUSE", message, hint=hint, token=start)
        return column

    def _parse_column_rest(self, column: SourceColumn, args: dict[str, Any]) -> None:
        token = self._curr
        if self._match_words("NOT NULL"):
            column.set("not_null", True)
        elif self._match_words("NULL"):
            pass
        elif self._match_words("FROM"):
            field = self._text("the field's name")
            if not field:
                self.fail_near(token, "a field has a name: FROM 'unit price'")
            self._once(column.args, "field", "FROM", field, token)
        elif self._match_words("METADATA"):
            self._expect_words("FROM", "write METADATA FROM 'offset'")
            column.set("metadata", self._text("the metadata's name"))
        elif self._match_words("PRIMARY KEY"):
            key = [column.this.copy()]
            self._once(args, "primary_key", "PRIMARY KEY", key, token)
            self._match_words("NOT ENFORCED")
        elif self._match_words("COMMENT"):
            self._once(column.args, "comment", "COMMENT", self._text("a comment"), token)
        else:
            choices = ("NOT NULL", "FROM", "METADATA FROM", "PRIMARY KEY", "COMMENT")
            near = self._nearest_words(choices)
            hint = f"did you mean {near}?" if near else f'expected ",", ")" or {choices[0]}'
            self.fail_near(hint=hint)

    def _parse_type_name(self) -> exp.DataType:
        start = self._curr
        if not start or start.token_type in (TokenType.COMMA, TokenType.R_PAREN):
            self.fail_near(hint="expected a type here")
        kind = self._parse_types()
        if isinstance(kind, exp.DataType) and kind.this != exp.DType.USERDEFINED:
            return self._placed(kind, start)
        return self.fail_type(start)

    # WATERMARK

    def _parse_watermark(self, start: Token) -> WatermarkClause:
        column = self._column_name()
        self._expect(TokenType.ALIAS, "AS")
        args: dict[str, Any] = {"this": exp.Column(this=column)}
        if self._word() == "ADAPTIVE":
            args["adaptive"] = self._parse_adaptive()
        else:
            args["delay"] = self._parse_delay(column)
        node = self._placed(WatermarkClause(**args), start)
        if self._match_words("IDLE TIMEOUT"):
            self._match(TokenType.EQ)
            node.set("idle_timeout", self._fixed_interval())
        elif self._word() and (near := self._nearest_words(("IDLE TIMEOUT",))):
            self.fail_near(hint=f"did you mean {near}?")
        return node

    def _parse_delay(self, column: exp.Identifier) -> exp.Interval | None:
        start = self._curr
        name = column.name.lower()
        if self._identifier("the event-time column or ADAPTIVE").name.lower() != name:
            message = f'the watermark is for column "{name}" but its expression reads another one'
            hint = f"write WATERMARK FOR {name} AS {name} - INTERVAL '10' SECOND"
            self.fail("INVALID_WATERMARK", message, hint=hint, token=start)
        if self._match(TokenType.DASH):
            return self._fixed_interval()
        if self._curr.token_type not in (TokenType.COMMA, TokenType.R_PAREN) and not self._word():
            self.fail_near(hint=f"a watermark stays behind: {name} - INTERVAL '10' SECOND")
        return None

    def _parse_adaptive(self) -> AdaptiveWatermark:
        start = self._curr
        self._advance()
        args: dict[str, Any] = {}
        self._wrapped(lambda: self._parse_adaptive_part(args))
        return self._placed(AdaptiveWatermark(**args), start)

    def _parse_adaptive_part(self, args: dict[str, Any]) -> None:
        start = self._curr
        part = self._choice("a part of ADAPTIVE", self.ADAPTIVE_PARTS)
        value: exp.Expr
        if part == "percentile":
            if not self._match(TokenType.NUMBER):
                self.fail_near(hint="expected a number between 0 and 1: PERCENTILE 0.99")
            value = exp.Literal.number(self._prev.text)
            if not 0 < float(self._prev.text) < 1:
                message = "the percentile is not between 0 and 1"
                hint = "write it as PERCENTILE 0.99"
                self.fail("INVALID_WATERMARK", message, hint=hint, token=self._prev)
        else:
            value = self._fixed_interval()
        self._once(args, part, part.upper(), value, start)

    # clauses

    def _parse_format(self, *, encoded: bool = True) -> dict[str, Any]:
        found: dict[str, Any] = {"format": self._choice("FORMAT", self.FORMATS)}
        if not encoded and (not self._curr or self._word() == "WITH"):
            return found
        self._expect_words("ENCODE", "expected ENCODE here: FORMAT PLAIN ENCODE JSON")
        further = () if self._word() in self.ENCODINGS else _further_encodings()
        found["encode"] = self._choice("ENCODE", (*self.ENCODINGS, *further))
        if self._curr.token_type == TokenType.L_PAREN:
            found["encode_options"] = self._options()
        return found

    def _parse_start_from(self) -> StartFromClause:
        start = self._tokens[self._index - 2]
        kind = self._choice("START FROM", ("EARLIEST", "LATEST", "TIMESTAMP", "OFFSETS"))
        value = None
        if kind in ("timestamp", "offsets"):
            value = exp.Literal.string(
                self._text("a timestamp" if kind == "timestamp" else "offsets")
            )
        return self._placed(StartFromClause(kind=kind, this=value), start)

    # CREATE SINK, CREATE FUNCTION, DROP

    def _parse_create_sink(self, replace: bool) -> CreateSink:
        args: dict[str, Any] = {"replace": replace, "exists": self._if_not_exists()}
        args["this"] = self._new_name("sink")
        self._expect_words("FROM", "write CREATE SINK name FROM view WITH (connector = …)")
        args["view"] = self._identifier("the name of a view")
        args |= self._clauses(self.SINK_CLAUSES, "CREATE SINK", lambda: False)
        return self.expression(CreateSink(**args))

    def _parse_create_function(self, replace: bool) -> CreateFunction:
        args: dict[str, Any] = {"replace": replace, "exists": self._if_not_exists()}
        args["this"] = self._new_name("function")
        self._expect(TokenType.L_PAREN, '"("')
        args["parameters"] = []
        if not self._match(TokenType.R_PAREN):
            self._retreat(self._index - 1)
            args["parameters"] = self._wrapped(self._parse_parameter_definition)
        stop = ("AS", "RETURN")
        args |= self._clauses(
            self.FUNCTION_CLAUSES, "CREATE FUNCTION", lambda: self._word() in stop
        )
        if "returns" not in args:
            self.fail_near(hint="expected RETURNS before this")
        if self._match_words("RETURN"):
            args["expression"] = self._parse_disjunction() or self.fail_near()
        elif "language" not in args:
            self.fail_near(hint="expected LANGUAGE before this, or RETURN and an expression")
        else:
            self._expect_words("AS")
            if not self._match_set((TokenType.STRING, TokenType.HEREDOC_STRING)):
                self.fail_near(hint="expected the function's text between $$ and $$")
            args["body"] = self._prev.text
        return self.expression(CreateFunction(**args))

    def _parse_parameter_definition(self) -> SourceColumn:
        name = self._identifier("the name of a parameter")
        return SourceColumn(this=name, kind=self._parse_type_name())

    def _parse_drop_statement(self) -> DropStatement:
        kind = self._choice("DROP", self.DROP_KINDS)
        kind = "streaming view" if kind == "view" else kind
        exists = self._word() == "IF"
        if exists:
            self._expect_words("IF EXISTS")
        this = self._identifier(f"the name of the {kind}")
        return self.expression(DropStatement(kind=kind, this=this, exists=exists))


def _further_encodings() -> list[str]:
    from importlib.metadata import entry_points  # an import that most commands do without

    return [point.name.upper() for point in entry_points(group=ENCODING_GROUP)]
