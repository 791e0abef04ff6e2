"""Where a node stands in a file.

In: the text of a file and the offsets sqlglot leaves on the nodes. Out:
:class:`~headwater.errors.Span`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Any

from sqlglot import exp

from headwater.dialect.time_patterns import WRITTEN
from headwater.errors import Span

SOURCE_META = "source"
_OPENED = re.compile(r"(\b[A-Za-z_]\w*)?\s*(?P<bracket>\()\s*$")
_IN_BRACKETS = (exp.Func, exp.Any, exp.Cube, exp.QueryTransform, exp.Rollup, exp.Tuple)
_PAIRS = (("(", ")"), ("[", "]"))
MAX_SHOWN = 500  # a longer line is no picture any more


class SourceText:
    r"""The text of one file and the lines in it.

    Attributes:
        file: path as the user wrote it.
        text: the text as parsed: no byte order mark, ``\n`` at the ends of lines.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text

    def __deepcopy__(self, memo: dict[int, Any]) -> SourceText:
        return self  # syntax trees are copied often; their text never changes

    def __repr__(self) -> str:
        return f"SourceText({self.file!r})"

    @cached_property
    def line_starts(self) -> list[int]:
        """Offsets of the first character of each line."""
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def span(self, start: int, end: int | None = None) -> Span:
        """Return the place of the characters from ``start`` up to, not including, ``end``.

        Args:
            start: offset of the first character.
            end: offset after the last one; by default one character.
        """
        start = max(0, min(start, len(self.text)))
        line = bisect_right(self.line_starts, start) - 1
        first = self.line_starts[line]
        last = self.text.find("\n", first)
        last = len(self.text) if last < 0 else last
        length = max(1, min(start + 1 if end is None else end, last) - start)
        shown = self.text[first:last] if last - first <= MAX_SHOWN else ""
        return Span(self.file, line + 1, start - first + 1, length, shown)


def offsets_of(node: exp.Expr) -> tuple[int, int] | None:
    """Return the offsets of the first and after the last character of a node, where they are known.

    Args:
        node: any node; one without a position of its own reaches from its first to its last
            descendant.
    """
    meta = node.meta
    if meta.get("start") is not None:
        return meta["start"], meta["end"] + 1
    found = [
        (inner.meta["start"], inner.meta["end"] + 1)
        for inner in node.walk()
        if inner.meta.get("start") is not None
    ]
    return (min(found)[0], max(end for _, end in found)) if found else None


def source_of(node: exp.Expr) -> SourceText | None:
    """Return the text that a node was parsed from, remembered on its statement or query."""
    inner: exp.Expr | None = node
    while inner is not None:
        source = inner.meta.get(SOURCE_META)
        if isinstance(source, SourceText):
            return source
        inner = inner.parent
    return None


def span_of(node: exp.Expr, source: SourceText | None = None) -> Span | None:
    """Return where a node stands in its file, or None if it was not parsed from one.

    A node made by hand takes the place of its nearest ancestor that has one. A statement is
    underlined at its name.

    Args:
        node: a statement or any node inside one.
        source: the text it comes from; by default the one remembered when it was parsed.
    """
    source = source or source_of(node)
    if source is None:
        return None
    inner: exp.Expr | None = node
    while inner is not None:
        named = inner.args.get("this") if inner.key.startswith(("create", "drop")) else inner
        if offsets := offsets_of(named if isinstance(named, exp.Expr) else inner):
            return source.span(*offsets)
        inner = inner.parent
    return None


def place_within(literal: exp.Expr, source: SourceText | None, at: int, length: int) -> Span | None:
    """Return where characters of a text literal's value stand; None if the text is not as written.

    Args:
        literal: a text literal.
        source: the text it comes from.
        at: offset of the first character in the value.
        length: number of characters.
    """
    offsets = offsets_of(literal)
    if source is None or offsets is None or not literal.is_string:
        return None
    start, end = offsets
    value = literal.meta.get(WRITTEN, literal.name)
    if source.text[start:end] != f"'{_quoted(value)}'":
        return None
    first = start + 1 + len(_quoted(value[:at]))
    return source.span(first, first + len(_quoted(value[at : at + length])))


def written_at(node: exp.Expr, source: SourceText) -> str:
    """Return the text of a node, a call with its name and brackets; empty if it has no place."""
    offsets = offsets_of(node)
    if offsets is None:
        return ""
    start, end = offsets
    if "start" not in node.meta and isinstance(node, _IN_BRACKETS):
        before = _OPENED.search(source.text, max(0, start - 80), start)
        around = offsets_of(node.parent) if isinstance(node.parent, exp.Func) else None
        if before and not (around and around[0] == before.start()):
            start = before.start("bracket" if isinstance(node, exp.Tuple) else 0)
    text = source.text[start:end]
    for at in range(end, min(end + 80, len(source.text))):
        if not any(text.count(opened) > text.count(closed) for opened, closed in _PAIRS):
            break
        text += source.text[at]
    return text


def _quoted(value: str) -> str:
    return value.replace("'", "''")
