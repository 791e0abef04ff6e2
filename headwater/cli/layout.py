"""How rows and prose fit a screen.

In: texts of cells, the width of the screen. Out: lines. A table that is too wide gives way in this
order, until it fits: long texts go below the table, columns that are seldom needed are left out,
texts are broken between words. What still does not fit is written as records, one line a column.
No value is ever cut, and none is broken within a word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_BETWEEN = 3
"""Characters between two columns of a table."""
_NARROWEST = 14
"""Characters to which a column of long texts may shrink."""
_MOST_LINES = 6
"""Lines of a cell above which records are easier to read."""
_CONTROL = dict.fromkeys([*range(9), *range(11, 32), 127])
"""What would move the cursor, or worse; neither a tab nor an end of line."""
_NUMBER = re.compile(r"-?[\d,]+(\.\d+)?([eE][-+]?\d+)?")
_LEAD = re.compile(r"(?P<tree>[│├└─ ]*)(?P<name>(?<=  )\S+(?: \S+){0,2} {2,})?")


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of texts.

    Attributes:
        name: its heading.
        texts: its cells.
        right: whether it is aligned to the right.
    """

    name: str
    texts: tuple[str, ...]
    right: bool = False

    @property
    def width(self) -> int:
        """How wide it is if nothing is broken."""
        return max(_cells(line) for text in (self.name, *self.texts) for line in text.split("\n"))

    @property
    def least(self) -> int:
        """How narrow it can be without a broken word."""
        words = [word for text in (self.name, *self.texts) for word in text.split()] or [""]
        return min(max(*map(_cells, words), _NARROWEST), self.width)


def columns_of(
    names: Sequence[str], rows: Sequence[Sequence[str]], missing: Collection[str] = ()
) -> list[TextColumn]:
    """Return the columns of rows of texts; those of numbers are aligned to the right.

    Args:
        missing: texts that stand for a missing value.
    """
    found = []
    for at, name in enumerate(names):
        texts = tuple(row[at].translate(_CONTROL).expandtabs() for row in rows)
        said = [text for text in texts if text not in missing]
        right = bool(said) and all(_NUMBER.fullmatch(text) for text in said)
        found.append(TextColumn(name, texts, right))
    return found


def fitted(
    columns: Sequence[TextColumn],
    width: int,
    *,
    below: Sequence[str] = (),
    spare: Sequence[str] = (),
    empty: str = "",
) -> tuple[list[str], list[str]]:
    """Lay rows out.

    Args:
        width: of the screen.
        below: columns of long texts; if the table is too wide, they are written below it, the
            first one first.
        spare: columns to leave out if it is still too wide, the least needed first.
        empty: the text of a value that need not be written below.

    Returns:
        The lines, and the names of the columns that were left out.
    """
    shown, under, out = list(columns), list[TextColumn](), list[str]()
    for name in (*below, *spare):
        if _total(shown) <= width:
            break
        if found := [each for each in shown if each.name == name]:
            shown = [each for each in shown if each.name != name]
            if name in below:
                under += found
            else:
                out.append(name)
    widths = _shrunk(shown, width)
    fits = _total(shown) <= width
    if widths is None or (not fits and max(map(_tallest, shown, widths)) > _MOST_LINES):
        return _records(columns, width), []
    lines = _table(shown, widths)
    for at, subject in enumerate(columns[0].texts):
        said = [(each.name, each.texts[at]) for each in under if each.texts[at] not in ("", empty)]
        if said:
            lines += ["", f" {subject}", *_pairs(said, width, "   ")]
    return lines, out


def wrapped(text: str, width: int) -> list[str]:
    """Break the lines of prose or of a plan between words; what goes on stands further right."""
    lines: list[str] = []
    for line in text.splitlines():
        if _cells(line) <= width:
            lines.append(line)
            continue
        lead = _LEAD.match(line)
        assert lead is not None
        tree = lead["tree"].replace("├", "│").replace("└", " ").replace("─", " ")
        lines += _broken(line, width, tree + " " * len(lead["name"] or "    "))
    return lines


def _cells(text: str) -> int:
    """How many places of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _total(columns: Sequence[TextColumn]) -> int:
    return 2 + sum(each.width for each in columns) + _BETWEEN * (len(columns) - 1)


def _shrunk(columns: Sequence[TextColumn], width: int) -> list[int] | None:
    """The widths at which columns fit, None if words would have to be broken."""
    room = width - 2 - _BETWEEN * (len(columns) - 1)
    widths = [each.width for each in columns]
    least = [each.least for each in columns]
    if sum(least) > room:
        return None
    over = sum(widths) - room
    while over > 0:
        at = max(range(len(widths)), key=lambda n: widths[n] - least[n])
        widest = widths[at] - least[at]
        step = max(min(over, widest // 2), 1)
        widths[at] -= step
        over -= step
    return widths


def _tallest(column: TextColumn, width: int) -> int:
    texts = [text for text in column.texts if _cells(text) > width]
    return max((len(_cell(text, width, right=False)) for text in texts), default=1)


def _table(columns: Sequence[TextColumn], widths: Sequence[int]) -> list[str]:
    both = list(zip(columns, widths, strict=True))
    lines = _joined([_cell(each.name, wide, right=each.right) for each, wide in both], widths)
    lines.append(" " + "─" * (sum(widths) + _BETWEEN * (len(widths) - 1)))
    for row in zip(*(each.texts for each in columns), strict=True):
        cells = zip(row, both, strict=True)
        lines += _joined([_cell(text, wide, right=of.right) for text, (of, wide) in cells], widths)
    return lines


def _cell(text: str, width: int, *, right: bool) -> list[str]:
    lines = [part for line in text.split("\n") for part in _broken(line, width, "")]
    return [" " * (width - _cells(line)) + line if right else line for line in lines]


def _joined(cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    lines = []
    for at in range(max(map(len, cells), default=0)):
        parts = [cell[at] if at < len(cell) else "" for cell in cells]
        both = zip(parts, widths, strict=True)
        padded = [part + " " * (wide - _cells(part)) for part, wide in both]
        lines.append((" " + (" " * _BETWEEN).join(padded)).rstrip())
    return lines


def _records(columns: Sequence[TextColumn], width: int) -> list[str]:
    """One line a column; a blank line between two rows."""
    lines: list[str] = []
    for row in zip(*(each.texts for each in columns), strict=True):
        names = [each.name for each in columns]
        lines += [*_pairs(list(zip(names, row, strict=True)), width, " "), ""]
    return [line.rstrip() for line in lines[:-1]]


def _pairs(pairs: Sequence[tuple[str, str]], width: int, indent: str) -> list[str]:
    """Names and their texts, one below the other."""
    longest = max(_cells(name) for name, _ in pairs)
    lines = []
    for name, text in pairs:
        lead = indent + name + " " * (longest - _cells(name) + 2)
        first, *more = text.split("\n")
        lines += _broken(lead + first, width, " " * _cells(lead))
        for line in more:
            lines += _broken(" " * _cells(lead) + line, width, " " * _cells(lead))
    return lines


def _broken(line: str, width: int, hang: str) -> list[str]:
    """A line broken between words; a word that is too long stays whole."""
    if _cells(line) <= width:
        return [line]
    if len(hang) > width // 2:
        hang = " " * 4
    lines, now = [], ""
    for piece in re.findall(r"\s*\S+", line):
        if now.strip() and _cells(now + piece) > width:
            lines.append(now)
            now = hang + piece.lstrip()
        else:
            now += piece
    return [*lines, now]
