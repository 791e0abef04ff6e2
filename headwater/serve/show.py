"""Statements about tables instead of rows: ``SHOW …`` and ``DESCRIBE …``.

In: the text of a statement and a project. Out: columns and rows, as Trino's statements of these
names answer; None if the text is no such statement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.errors import ConfigError, SqlError
from headwater.errors.nearest import did_you_mean, nearest
from headwater.serve.information_schema import INFORMATION_SCHEMA, VIEW, InformationSchema

if TYPE_CHECKING:
    from headwater.project import Project

Rows = Sequence[tuple[object, ...]]
Answer = tuple[tuple[str, ...], Rows]

_SHOW = re.compile(r"(SHOW|DESCRIBE|DESC)\b\s*(.*)", re.IGNORECASE | re.DOTALL)
_TOKEN = re.compile(r"""\s*("(?:[^"]|"")*"|'(?:[^']|'')*'|[\w$.]+(?:\."[^"]*")?|\S)""")
_BLANKS = re.compile(r"\s+|--[^\n]*(?:\n|\Z)|/\*.*?\*/", re.DOTALL)
_KINDS = ("STREAMING VIEW", "MATERIALIZED VIEW", "TABLE", "VIEW", "SOURCE", "SINK", "FUNCTION")


@dataclass(frozen=True, slots=True)
class _Words:
    """What stands behind the subject of a statement.

    Attributes:
        name: the object that is meant, lower case.
        like: a pattern of LIKE; empty if there is none.
    """

    name: str = ""
    like: str = ""


def show(text: str, project: Project, schema: InformationSchema) -> Answer | None:
    """Answer a statement that begins with SHOW, DESCRIBE or DESC.

    Args:
        text: one statement, without a semicolon.
        project: whose definitions are meant.
        schema: its tables and columns.

    Returns:
        Names of columns, and rows; None if the text is another statement.

    Raises:
        SqlError: ``SYNTAX_ERROR``.
        ConfigError: ``UNKNOWN_TABLE``, ``UNKNOWN_NAMESPACE``, ``DEFINITION_BROKEN``.
    """
    found = _SHOW.fullmatch(_BLANKS.sub(" ", text).strip())
    if found is None:
        return None
    first, rest = found[1].upper(), [token[1] for token in _TOKEN.finditer(found[2])]
    if first != "SHOW":
        named = rest[1:] if rest and rest[0].upper() in ("TABLE", "VIEW") and rest[1:] else rest
        return _SUBJECTS["COLUMNS"](_Asked(project, schema), _words(named, project, needs=True))
    for subject, answer in _SUBJECTS.items():
        words = subject.split()
        if [each.upper() for each in rest[: len(words)]] == words:
            needs = subject in ("COLUMNS", "CREATE")
            behind = rest[len(words) :]
            if subject == "CREATE":
                behind = _without_kind(behind)
            return answer(_Asked(project, schema), _words(behind, project, needs=needs))
    given = rest[0].upper() if rest else ""
    near = nearest(given, _SUBJECTS)
    known = f"write SHOW {', '.join(_SUBJECTS)}"
    hint = f"did you mean SHOW {near}?" if near else known
    raise SqlError("SYNTAX_ERROR", f"SHOW {given} is not a statement".replace("  ", " "), hint=hint)


@dataclass(frozen=True, slots=True)
class _Asked:
    project: Project
    schema: InformationSchema

    def tables(self, words: _Words) -> Answer:
        kinds = {VIEW: "view"}
        rows = [
            (each.name, kinds.get(each.kind, "table"), each.comment or None)
            for each in self.schema.relations().values()
        ]
        return ("Table", "Type", "Comment"), _like(rows, words)

    def views(self, words: _Words) -> Answer:
        rows = [
            (each.name, each.comment or None)
            for each in self.schema.relations().values()
            if each.kind == VIEW
        ]
        return ("View", "Comment"), _like(rows, words)

    def columns(self, words: _Words) -> Answer:
        relation = self.schema.readable(words.name)
        rows = [
            (each.name, each.type, "" if each.nullable else "not null", each.comment or None)
            for each in self.schema.columns(relation)
        ]
        return ("Column", "Type", "Extra", "Comment"), _like(rows, words)

    def create(self, words: _Words) -> Answer:
        from headwater.project import statement_text

        text = statement_text(self.project, words.name)
        if text is None:
            names = self.project.definitions
            hint = did_you_mean(words.name, names, "definitions")
            message = f'the project does not define "{words.name}"'
            raise ConfigError("UNKNOWN_TABLE", message, hint=hint)
        return ("Create",), [(text,)]

    def functions(self, words: _Words) -> Answer:
        from headwater.analyze.inference.catalogue import find

        rows = [(each.name, each.usage, each.about) for each in find("")]
        return ("Function", "Usage", "Description"), _like(rows, words)

    def schemas(self, words: _Words) -> Answer:
        rows = [(INFORMATION_SCHEMA,), (self.project.config.namespace,)]
        return ("Schema",), _like(rows, words)

    def sources(self, words: _Words) -> Answer:
        rows = [
            (each.name, each.connector, each.comment or None)
            for each in self.project.catalog.sources.values()
            if not each.kept
        ]
        return ("Source", "Connector", "Comment"), _like(rows, words)

    def sinks(self, words: _Words) -> Answer:
        sinks = self.project.catalog.sinks.values()
        rows = [(each.name, each.view, each.connector) for each in sinks]
        return ("Sink", "Delivers", "Connector"), _like(rows, words)


_SUBJECTS: Mapping[str, Callable[[_Asked, _Words], Answer]] = {
    "TABLES": _Asked.tables,
    "VIEWS": _Asked.views,
    "COLUMNS": _Asked.columns,
    "CREATE": _Asked.create,
    "FUNCTIONS": _Asked.functions,
    "SCHEMAS": _Asked.schemas,
    "SOURCES": _Asked.sources,
    "SINKS": _Asked.sinks,
}
SUBJECTS = tuple(_SUBJECTS)


def _without_kind(tokens: list[str]) -> list[str]:
    for kind in _KINDS:
        words = kind.split()
        if [each.upper() for each in tokens[: len(words)]] == words and tokens[len(words) :]:
            return tokens[len(words) :]
    return tokens


def _words(tokens: list[str], project: Project, *, needs: bool) -> _Words:
    """Read ``[FROM|IN name] [LIKE 'pattern']``, or a bare name."""
    rest, name, like = list(tokens), "", ""
    if rest and rest[0].upper() in ("FROM", "IN"):
        del rest[0]
    if rest and rest[0].upper() != "LIKE":
        parts = [each.strip('"').lower() for each in rest.pop(0).split(".")]
        name = parts[-1]
        spaces = parts[:-1] if needs else [name]
        if spaces and spaces[-1] not in (project.config.namespace, INFORMATION_SCHEMA):
            hint = f'tables are in "{project.config.namespace}"; the namespace can be left out'
            message = f'namespace "{spaces[-1]}" is not the one of this project'
            raise ConfigError("UNKNOWN_NAMESPACE", message, hint=hint)
    if len(rest) > 1 and rest[0].upper() == "LIKE" and rest[1].startswith("'"):
        like = rest[1][1:-1].replace("''", "'")
        del rest[:2]
    if needs and not name:
        raise SqlError("SYNTAX_ERROR", "a name is missing", hint="name a table: DESCRIBE orders")
    if rest:
        hint = "remove it, or write LIKE 'pattern' here"
        raise SqlError("SYNTAX_ERROR", f'syntax error at or near "{rest[0]}"', hint=hint)
    return _Words(name, like)


def _like(rows: Rows, words: _Words) -> Rows:
    if not words.like:
        return rows
    pattern = re.escape(words.like.lower()).replace("%", ".*").replace("_", ".")
    return [row for row in rows if re.fullmatch(pattern, str(row[0]), re.DOTALL)]
