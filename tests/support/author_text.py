"""An oracle that shares no binder: the author's own SELECT, transpiled by plain sqlglot, in DuckDB.

In: a text of definitions, the tables that they read, the rows of a view. Out: whether the view
holds what DuckDB answers to the author's text; different rows; or why DuckDB cannot be asked.
``verify`` compares a table with the SELECT at rest, and both come from one bound tree: what the
binder drops, both lack. Here the words of the author meet no parser, binder or planner of the
product. ``tests/support/author_meaning.py`` lists what the words mean otherwise in DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import duckdb
from sqlglot import Dialect, exp, parse_one
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from tests.support.author_meaning import TRINO, as_trino, unlike
from tests.support.bags import Bag, difference

_HEADER = re.compile(r"^\s*--\s*dialect\s*[:=]\s*(\w+)", re.IGNORECASE | re.MULTILINE)
_OPTION = re.compile(r"\bdialect\s*=\s*'(\w+)'", re.IGNORECASE)
_BACKTICKS = ("spark", "bigquery", "flink")
_GIVEN, _SHUFFLED = "given", "shuffled"
"""Schemas with the same tables; in the second one their rows stand in another order."""
_ORDERS = 6
"""How many orders of rows DuckDB is asked in before a difference counts."""


class Verdict(Enum):
    """What the oracle says of a view."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_ASKABLE = "not askable"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one view.

    Attributes:
        verdict: see :class:`Verdict`.
        reason: why DuckDB cannot be asked, or the rows that differ; empty if the bags are equal.
        columns: names of the columns that were compared.
        rows: how many rows DuckDB answered.
    """

    verdict: Verdict
    reason: str = ""
    columns: tuple[str, ...] = ()
    rows: int = 0


@dataclass(frozen=True, slots=True)
class AuthorView:
    """A ``CREATE STREAMING VIEW`` as its author wrote it.

    Attributes:
        name: its name in lower case.
        query: the text of its SELECT, without EMIT.
        dialect: what the SELECT is written in.
        columns: the names in the list behind the view's name; empty without such a list.
        final: whether it ends with EMIT and so may hold less than its SELECT answers.
    """

    name: str
    query: str
    dialect: str = "trino"
    columns: tuple[str, ...] = ()
    final: bool = False


class NotAskable(Exception):
    """DuckDB cannot be asked; the text says why."""


# -- the author's text


def author_views(text: str) -> Iterator[AuthorView]:
    """Yield the views of some definitions as they are written.

    Args:
        text: statements, of which those of other kinds are passed over.
    """
    found = _HEADER.search(text)
    whole = found[1].lower() if found else "trino"
    for tokens in _statements(text, whole):
        words = [token.text.upper() for token in tokens]
        if "STREAMING" in words[:4] and "VIEW" in words[:5]:
            yield _view(text, tokens, words, whole)


def _statements(text: str, dialect: str) -> Iterator[list[Token]]:
    """The tokens of each statement."""
    quoted = "spark" if dialect in _BACKTICKS else "trino"
    held: list[Token] = []
    for token in Dialect.get_or_raise(quoted).tokenize(text):
        if token.token_type is TokenType.SEMICOLON:
            if held:
                yield held
            held = []
        else:
            held.append(token)
    if held:
        yield held


def _view(text: str, tokens: Sequence[Token], words: Sequence[str], dialect: str) -> AuthorView:
    at = words.index("VIEW") + 1
    at += 3 if words[at : at + 3] == ["IF", "NOT", "EXISTS"] else 0
    outside = [n for n, depth in enumerate(_depths(tokens)) if depth == 0 and n > at]
    body = next(n for n in outside if tokens[n].token_type is TokenType.ALIAS)
    ends = [n for n in outside if n > body and words[n] == "EMIT" and n + 1 < len(words)]
    ends = [n for n in ends if words[n + 1] in ("ON", "CHANGES", "FINAL", "AFTER")]
    last = tokens[(ends[0] if ends else len(tokens)) - 1]
    head = text[tokens[0].start : tokens[body].start]
    option = _OPTION.search(head)
    return AuthorView(
        tokens[at].text.lower(),
        text[tokens[body].end + 1 : last.end + 1].strip(),
        option[1].lower() if option else dialect,
        _listed(tokens[at + 1 : body]),
        bool(ends) and words[ends[0] + 1] != "CHANGES",
    )


def _listed(tokens: Sequence[Token]) -> tuple[str, ...]:
    """The names of the columns in the list behind the name of a view."""
    if not tokens or tokens[0].token_type is not TokenType.L_PAREN:
        return ()
    names, starts = [], True
    for token, depth in zip(tokens, _depths(tokens), strict=True):
        if depth == 0 and token is not tokens[0]:
            break
        if depth == 1 and starts and token.token_type is not TokenType.L_PAREN:
            names.append(token.text)
        starts = depth == 1 and token.token_type in (TokenType.COMMA, TokenType.L_PAREN)
    keys = [n for n, name in enumerate(names) if name.upper() in ("PRIMARY KEY", "PRIMARY")]
    keys += [n for n, name in enumerate(names) if name.upper() == "CONSTRAINT"]
    return tuple(name.lower() for n, name in enumerate(names) if n not in keys)


def _depths(tokens: Sequence[Token]) -> Iterator[int]:
    """How deep in brackets each token stands; an opening bracket is in, a closing one is out."""
    depth = 0
    for token in tokens:
        depth += token.token_type is TokenType.L_PAREN
        depth -= token.token_type is TokenType.R_PAREN
        yield depth


# -- the question


def question(view: AuthorView) -> tuple[str, frozenset[int]]:
    """Return the author's SELECT as DuckDB reads it, and the places of columns not to compare.

    Raises:
        NotAskable: plain sqlglot cannot read or write it, or its words mean something else.
    """
    read = TRINO if view.dialect == "trino" else view.dialect
    try:
        tree = parse_one(view.query, read=read, error_level=ErrorLevel.RAISE)
        if not isinstance(tree, exp.Query):
            raise NotAskable(f"sqlglot reads a {tree.key}")
        tree = as_trino(tree)
        found = unlike(tree)
        if found.reason:
            raise NotAskable(found.reason)
        return tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE), found.columns
    except (SqlglotError, ValueError) as error:  # of an unknown dialect
        raise NotAskable(f"sqlglot: {str(error).splitlines()[0]}") from error


def relations(view: AuthorView) -> frozenset[str]:
    """Return the names that plain sqlglot finds in the FROM clauses of an author's SELECT.

    A binder that drops a join does not read the table either: what the author names counts, not
    what the view reads. Empty if sqlglot cannot read the text.
    """
    try:
        tree = parse_one(view.query, read=TRINO if view.dialect == "trino" else view.dialect)
    except (SqlglotError, ValueError):
        return frozenset()
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    return frozenset(table.name.lower() for table in tree.find_all(exp.Table)) - own


def open_oracle() -> duckdb.DuckDBPyConnection:
    """Open DuckDB with the settings under which plain text means what it means in Trino."""
    # a recursion that does not end must fail soon
    duck = duckdb.connect(config={"threads": 1, "memory_limit": "300MB", "temp_directory": ""})
    duck.execute("SET TimeZone = 'UTC'")
    # its 2.0.0 fails where they decide: CASE WHEN x IS NULL THEN 'none' END > 'v'
    duck.execute("SET disabled_optimizers = 'statistics_propagation'")
    for schema in (_GIVEN, _SHUFFLED):
        duck.execute(f"CREATE SCHEMA {schema}")
    return duck


def set_watermark(duck: duckdb.DuckDBPyConnection, micros: int | None) -> None:
    """Let ``watermark()`` in authors' texts be that of a commit.

    Args:
        duck: as :func:`open_oracle` opened it.
        micros: since 1970 UTC.
    """
    now = "CAST(NULL AS TIMESTAMPTZ)" if micros is None else f"make_timestamptz({micros})"
    for schema in (_GIVEN, _SHUFFLED):
        duck.execute(f"CREATE OR REPLACE MACRO {schema}.watermark() AS {now}")


def give(duck: duckdb.DuckDBPyConnection, name: str, rows: str) -> None:
    """Make a table that author's texts read.

    Args:
        duck: as :func:`open_oracle` opened it.
        name: as the author writes it.
        rows: SQL of what it holds, with no columns but those the author can name.
    """
    duck.execute(f'CREATE OR REPLACE TABLE {_GIVEN}."{name}" AS {rows}')


def ask(
    duck: duckdb.DuckDBPyConnection, view: AuthorView, names: Sequence[str], held: Bag
) -> Answer:
    """Compare what a view holds with DuckDB's answer to its author's text.

    Args:
        duck: where the tables are that it reads (:func:`give`).
        view: the view.
        names: of its columns.
        held: its rows.
    """
    try:
        text, left_out = question(view)
        answer = _answer(duck, _GIVEN, text)
        if len(answer.kinds) != len(names):
            found = f"{len(answer.kinds)} columns, not {len(names)}"
            return Answer(Verdict.DIFFERENT, found, tuple(names), len(answer.rows))
        at = [n for n in range(len(names)) if n not in left_out]
        found = difference(held.only(at), answer.only(at), subset=view.final)
        if found:
            others = [_answer(duck, _SHUFFLED, text) for _ in _orders(duck, text)]
            at = [n for n in at if not any(_unlike(answer, each, [n]) for each in others)]
            if any(_unlike(answer, each, at) for each in others):
                raise NotAskable("the answer depends on the order of rows")
            found = difference(held.only(at), answer.only(at), subset=view.final)
    except NotAskable as error:
        return Answer(Verdict.NOT_ASKABLE, str(error))
    if not at:
        return Answer(Verdict.NOT_ASKABLE, "no column means the same in DuckDB")
    verdict = Verdict.DIFFERENT if found else Verdict.EQUAL
    return Answer(verdict, found, tuple(names[n] for n in at), len(answer.rows))


def _orders(duck: duckdb.DuckDBPyConnection, text: str) -> Iterator[int]:
    """Put the rows of the tables of a query into one order after another."""
    found = duck.execute(f"SELECT table_name FROM duckdb_tables() WHERE schema_name = '{_GIVEN}'")
    words = {*re.findall(r"\w+", text.lower())}
    tables = [f'"{name}"' for (name,) in found.fetchall() if name.lower() in words]
    for number in range(_ORDERS):
        order = f"hash(rowid + {number})" if number else "rowid DESC"
        for table in tables:
            rows = f"FROM {_GIVEN}.{table} ORDER BY {order}"
            duck.execute(f"CREATE OR REPLACE TABLE {_SHUFFLED}.{table} AS {rows}")
        yield number


def _unlike(one: Bag, two: Bag, at: Sequence[int]) -> bool:
    return bool(difference(one.only(at), two.only(at)))


def _answer(duck: duckdb.DuckDBPyConnection, schema: str, text: str) -> Bag:
    duck.execute(f"USE {schema}")
    duck.execute("SET integer_division = true")  # 7 / 2 is 3; the product writes it as such
    try:
        return Bag.of(duck.sql(text))
    except duckdb.Error as error:
        raise NotAskable(f"DuckDB: {str(error).splitlines()[0]}") from error
    finally:
        duck.execute("USE main")
        duck.execute("SET integer_division = false")
