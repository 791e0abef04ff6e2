"""Headwater's dialect of SQL: which statements there are, and the parser for each body dialect.

In: tokens. Out: one node per statement. ``Headwater`` is Trino plus our statements and clauses; for
a query in another dialect the same rules are mixed into that dialect's parser, so nothing of
sqlglot is changed and the tree that comes out is the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from threading import Lock
from typing import Any, ClassVar, NoReturn

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.trino import Trino
from sqlglot.parser import Parser
from sqlglot.parsers.trino import TrinoParser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from headwater.dialect import time_patterns
from headwater.dialect.advice import advised, check_operators
from headwater.dialect.generator import HeadwaterGenerator
from headwater.dialect.hints import without_sizes
from headwater.dialect.json_paths import failing_value
from headwater.dialect.parser_query import QueryParser, read_words
from headwater.dialect.parser_view import ViewParser
from headwater.dialect.splitter import BODY_DIALECTS
from headwater.dialect.vocabulary import DialectError

CREATE_KINDS = ("SOURCE", "TABLE", "STREAMING VIEW", "SINK", "FUNCTION")

_DECIMAL = re.compile(r"[+-]?(?P<whole>[0-9]*)(\.(?P<fraction>[0-9]*))?")
_WORD = re.compile(r"[A-Z_]")

# what people may try, and what to do instead
_INSTEAD = {
    "EXPLAIN": "use headwater explain VIEW",
    "INSERT": "rows come from sources; describe the result with CREATE STREAMING VIEW … AS",
    "MERGE": "describe the result with CREATE STREAMING VIEW … AS",
    "UPDATE": "describe the result with CREATE STREAMING VIEW … AS",
    "DELETE": "describe the result with CREATE STREAMING VIEW … AS",
    "SET": "settings belong into headwater.toml",
    "USE": "the catalog and namespace belong into headwater.toml",
    "ALTER": "change the file and run headwater apply",
    "REFRESH": "run headwater run --once",
}


_BY_NAME = (
    *("IS_NAN", "LOG", "LOG2", "LOG10", "WIDTH_BUCKET", "CHR", "YEAR_OF_WEEK"),
    *("MD5", "SHA1", "SHA256", "TO_UTF8", "FROM_UTF8", "TO_HEX", "FROM_HEX", "TO_BASE64"),
    *("FROM_BASE64", "ARRAY_DISTINCT", "ARRAY_SORT", "ARRAY_JOIN", "ARRAY_MAX", "ARRAY_MIN"),
    *("ARRAY_POSITION", "ARRAY_REMOVE", "SEQUENCE", "SLICE", "FLATTEN", "REPEAT"),
    *(
        "MAP",
        "MAP_KEYS",
        "MAP_VALUES",
        "ARRAY_UNION",
        "ARRAY_EXCEPT",
        "ARRAY_INTERSECT",
        "TRIM_ARRAY",
    ),
    *("BIT_COUNT"),
    *("TRANSFORM", "FILTER", "REDUCE", "ANY_MATCH", "ALL_MATCH", "NONE_MATCH", "ZIP_WITH"),
    *("REGEXP_COUNT", "REGEXP_EXTRACT_ALL", "REGEXP_SPLIT"),
)
"""Trino's functions that stay calls by name: sqlglot's nodes for them mean more than one thing, or
drop arguments. The table of functions reads the names."""

_PASS_OVER_NULL = ("ARG_MIN", "ARGMIN", "ARG_MAX", "ARGMAX")
"""DuckDB's, which leave NULL values out; sqlglot takes them for min_by and max_by, which do not."""


def _own(functions: Mapping[str, Any], *foreign: str) -> dict[str, Any]:
    """The functions of a dialect without those that sqlglot takes for others."""
    return {key: make for key, make in functions.items() if key not in (*_PASS_OVER_NULL, *foreign)}


def _with_path(arguments: list[exp.Expr]) -> exp.Expr:
    """``json_extract_scalar`` with its path as written: sqlglot's has no places and reads more."""
    if len(arguments) != 2:
        return exp.Anonymous(this="json_extract_scalar", expressions=arguments)
    return exp.JSONExtractScalar(this=arguments[0], expression=arguments[1])


def _units_between(arguments: list[exp.Expr]) -> exp.Expr:
    """``TIMESTAMPDIFF(unit, from, to)`` of Flink and others, which Trino calls date_diff."""
    if len(arguments) != 3 or not arguments[0].name:
        return exp.Anonymous(this="timestampdiff", expressions=arguments)
    unit, start, end = arguments
    return exp.DateDiff(this=end, expression=start, unit=exp.var(unit.name.upper()))


def _days_between(arguments: list[exp.Expr]) -> exp.Expr:
    """``DATEDIFF(to, from)``; with a unit, dialects count other things by it."""
    if len(arguments) != 2:
        return exp.Anonymous(this="datediff", expressions=arguments)
    return exp.DateDiff(this=arguments[0], expression=arguments[1])


def _unread(name: str) -> Callable[[list[exp.Expr]], exp.Expr]:
    return lambda arguments: exp.Anonymous(this=name, expressions=arguments)


class HeadwaterRules(ViewParser, QueryParser):
    """Our statements and clauses, to be mixed into the parser of a body dialect."""

    CREATE_PARSERS: ClassVar[Mapping[str, Callable[[Any, bool], exp.Expr]]] = {
        "SOURCE": lambda self, replace: self._parse_create_source(False, replace),
        "TABLE": lambda self, replace: self._parse_create_source(True, replace),
        "STREAMING VIEW": lambda self, replace: self._parse_create_streaming_view(replace),
        "SINK": lambda self, replace: self._parse_create_sink(replace),
        "FUNCTION": lambda self, replace: self._parse_create_function(replace),
    }

    FUNCTIONS_WITH_ALIASED_ARGS: ClassVar[set[str]] = {"STRUCT", "STRUCT_PACK", "ROW"}
    HAS_SIZE_HINTS: ClassVar[bool] = False

    def parse_tokens(self, tokens: list[Token], text: str) -> exp.Expr:
        """Parse one statement.

        Args:
            tokens: its tokens, with offsets into ``text``.
            text: the whole file.

        Raises:
            DialectError: it is not a statement of the dialect.
        """
        self.reset()
        self.sql = text
        read_words(tokens)
        self._chunks = [without_sizes(tokens) if self.HAS_SIZE_HINTS else tokens]
        self._advance_chunk()
        statement = self._parse_statement()
        if self._curr or statement is None:
            self.fail_near()
        return statement

    def _parse_statement(self) -> exp.Expr | None:
        if self._match_words("CREATE"):
            return self._parse_create_statement()
        if self._match_words("DROP"):
            return self._parse_drop_statement()
        in_brackets = self._prev and self._prev.token_type == TokenType.L_PAREN
        if in_brackets and (rows := self._parse_derived_table_values()):
            return rows  # of a WITH clause
        if self._curr and self._query_ahead():
            query = self._parse_rows()
            if isinstance(query, exp.Query):
                return query
        return self._unknown_statement()

    def _query_ahead(self) -> bool:
        starts = (
            TokenType.SELECT,
            TokenType.WITH,
            TokenType.L_PAREN,
            TokenType.FROM,
            TokenType.TABLE,
            TokenType.VALUES,
        )
        return self._curr.token_type in starts

    def _parse_create_statement(self) -> exp.Expr:
        replace = self._match_words("OR REPLACE")
        for kind, parser in self.CREATE_PARSERS.items():
            if self._match_words(kind):
                return parser(self, replace)
        words = self._words_ahead(2)
        if words.startswith(("VIEW", "MATERIALIZED", "STREAMING TABLE", "DYNAMIC TABLE", "LIVE")):
            hint = "write CREATE STREAMING VIEW"
        else:
            near = self._nearest_words(CREATE_KINDS)
            known = ", ".join(CREATE_KINDS)
            hint = f"did you mean CREATE {near}?" if near else f"CREATE what? One of {known}"
        message = f"CREATE {words.split(' ')[0]} is not a statement".replace("  ", " ")
        return self.fail("UNKNOWN_STATEMENT", message, hint=hint)

    def _unknown_statement(self) -> NoReturn:
        if not self._curr:
            self.fail_near(hint="expected a query here")
        if not _WORD.match(self._word()):
            self.fail_near(hint="a statement starts with CREATE, DROP, SELECT or WITH")
        word = self._word()
        near = self._nearest_words(("CREATE", "DROP", "SELECT", "WITH"))
        hint = _INSTEAD.get(word, "a file holds CREATE and DROP statements and queries")
        hint = f"did you mean {near}?" if near and word not in _INSTEAD else hint
        self.fail("UNKNOWN_STATEMENT", f"{word} is not a statement here", hint=hint)


class Headwater(Trino):
    """Trino's SQL with Headwater's statements, window table functions and ``QUALIFY``."""

    STRICT_JSON_PATH_SYNTAX = False  # otherwise sqlglot logs a warning and goes on
    INDEX_OFFSET = 0  # otherwise sqlglot counts a place from 0 if it knows that it is a number

    class Tokenizer(Trino.Tokenizer):
        """Trino's words, and ``$$ … $$``."""

        KEYWORDS = {**Trino.Tokenizer.KEYWORDS, "QUALIFY": TokenType.QUALIFY}
        SINGLE_TOKENS = {**Trino.Tokenizer.SINGLE_TOKENS, "$": TokenType.HEREDOC_STRING}
        VAR_SINGLE_TOKENS = {"$"}
        HEREDOC_STRINGS = ["$"]
        HEREDOC_TAG_IS_IDENTIFIER = True  # a lone $ is the end of a partition in PATTERN

    class Parser(HeadwaterRules, TrinoParser):
        """Headwater's rules on Trino's."""

        # sqlglot reads TO_CHAR, which Trino does not have, with patterns of Teradata
        FUNCTIONS = {
            **_own(TrinoParser.FUNCTIONS, "TO_CHAR", *_BY_NAME),
            "DATE_FORMAT": time_patterns.build(exp.TimeToStr),
            "DATE_PARSE": time_patterns.build(exp.StrToTime),
            "TIMESTAMPDIFF": _units_between,
            "DATEDIFF": _days_between,
        }
        FUNCTION_PARSERS = {
            **_own(TrinoParser.FUNCTION_PARSERS, *_BY_NAME),
            "JSON_EXTRACT_SCALAR": lambda self: self._parse_json_scalar(),
        }
        PRIMARY_PARSERS = {
            **TrinoParser.PRIMARY_PARSERS,
            TokenType.HEX_STRING: lambda self, token: _hexadecimal(token),
        }

        TYPE_LITERAL_PARSERS = {
            **TrinoParser.TYPE_LITERAL_PARSERS,
            exp.DType.DECIMAL: lambda self, this, kind: _decimal_literal(this, kind),
        }

        # bits in PostgreSQL's names, bytes in others': sqlglot reads INT8 as one byte
        AMBIGUOUS_TYPES = ("INT2", "INT4", "INT8", "INT16", "INT32", "INT64")

        def _parse_json_scalar(self) -> exp.Expr:
            found = _with_path(self._parse_csv(self._parse_assignment))
            return failing_value(found) if self._match_words("ERROR ON ERROR") else found

        def _parse_types(
            self,
            check_func: bool = False,
            schema: bool = False,
            allow_identifiers: bool = True,
            with_collation: bool = False,
        ) -> exp.Expr | None:
            if self._word() in self.AMBIGUOUS_TYPES and not check_func:
                hint = "write SMALLINT, INTEGER or BIGINT"
                message = f'type "{self._curr.text}" has more than one meaning'
                self.fail("UNKNOWN_TYPE", message, hint=hint)
            return super()._parse_types(check_func, schema, allow_identifiers, with_collation)

    Generator = HeadwaterGenerator


def _hexadecimal(token: Token) -> exp.Expr:
    """``X'1F'`` is bytes, ``0x1F`` a number; sqlglot takes both for one."""
    if token.end - token.start + 1 == len(token.text) + len("0x"):
        return exp.Literal.number(int(token.text, 16))
    return exp.HexString(this=token.text)


def _decimal_literal(text: exp.Expr, kind: exp.DataType) -> exp.Expr:
    """``DECIMAL '1.50'`` has the digits that are written; a cast without digits has no fraction."""
    if not kind.expressions and (digits := _DECIMAL.fullmatch(text.name.strip())):
        whole, fraction = digits["whole"].lstrip("0"), digits["fraction"] or ""
        sizes = (max(len(whole) + len(fraction), 1), len(fraction))
        params = [exp.DataTypeParam(this=exp.Literal.number(size)) for size in sizes]
        kind = exp.DataType(this=exp.DType.DECIMAL, expressions=params)
    return exp.cast(text, kind)


class BodyParser:
    """Parses statements whose query is written in one dialect; the parts are built once.

    Attributes:
        dialect: Headwater, or a subclass of another dialect with Headwater's rules mixed in.
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._tokenizer: Tokenizer = dialect.tokenizer()
        self._parser: Parser = dialect.parser()
        self._lock = Lock()  # tokenizer and parser keep their place in themselves

    def parse(self, text: str, start: int, end: int) -> exp.Expr:
        """Parse the statement between two offsets of a text.

        Args:
            text: the whole file.
            start: offset of the first character.
            end: offset after the last one.

        Raises:
            DialectError: it is not a statement of the dialect.
            sqlglot.errors.TokenError: it cannot be cut into tokens.
        """
        assert isinstance(self._parser, HeadwaterRules)
        with self._lock:
            tokens = self._tokenizer.tokenize(text[start:end])
            line = text.count("\n", 0, start)
            for token in tokens:
                token.start += start
                token.end += start
                token.line += line
            check_operators(tokens)
            try:
                return self._parser.parse_tokens(tokens, text)
            except DialectError as error:
                raise advised(error, tokens, text) from None


@cache
def body_parser(name: str) -> BodyParser:
    """Return the parser for statements whose query is written in a dialect.

    Args:
        name: one of :data:`~headwater.dialect.splitter.BODY_DIALECTS`.
    """
    if name == "trino":
        return BodyParser(Headwater())
    base = type(Dialect.get_or_raise(name))
    functions, parsers = _own(base.parser_class.FUNCTIONS), base.parser_class.FUNCTION_PARSERS
    if name == "duckdb":  # its min_by is arg_min
        functions |= {"MIN_BY": _unread("arg_min"), "MAX_BY": _unread("arg_max")}
        parsers = _own(parsers, "MIN_BY", "MAX_BY")
    own = {
        "FUNCTIONS": functions,
        "FUNCTION_PARSERS": _own(parsers),
        "HAS_SIZE_HINTS": name == "materialize",
    }
    rules = type("Parser", (HeadwaterRules, base.parser_class), own)
    settings = {"STRICT_JSON_PATH_SYNTAX": False, "INDEX_OFFSET": 0}
    made = type(f"Headwater{base.__name__}", (base,), {"Parser": rules, **settings})
    return BodyParser(made())


@cache
def known_functions() -> frozenset[str]:
    """Return the names, in lower case, that a dialect reads as functions or words of its own."""
    found: set[str] = set()
    for name in BODY_DIALECTS:
        parser = type(Dialect.get_or_raise(name)).parser_class
        for table in (
            *(parser.FUNCTIONS, parser.FUNCTION_PARSERS),
            *(parser.NO_PAREN_FUNCTIONS, parser.NO_PAREN_FUNCTION_PARSERS),
        ):
            found.update(getattr(word, "name", word).lower() for word in table)
    return frozenset(found | {word.lower() for word in Headwater.Tokenizer.KEYWORDS})
