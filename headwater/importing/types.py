"""A type as another system writes it → a type of Headwater.

In: a cursor and the system's table of types. Out: the type as SQL, and what differs.
"""

from __future__ import annotations

from sqlglot.tokenizer_core import TokenType

from headwater.importing.contract import LeftOut, Types
from headwater.importing.statements import Cursor, column_name

_SIZED = ("DECIMAL",)
_ROWS = ("ROW", "STRUCT")
_ZONES = ("WITH LOCAL TIME ZONE", "WITH TIME ZONE")


def read_type(cursor: Cursor, types: Types, notes: list[str]) -> str:
    """Read a type.

    Args:
        cursor: at its first word.
        types: the system's types.
        notes: gets what differs.

    Raises:
        LeftOut: the type has no equal here.
    """
    found = _nested(cursor, types, notes) or _plain(cursor, types, notes)
    while (token := cursor.peek()) and token.token_type is TokenType.L_BRACKET:
        cursor.step()
        if cursor.word() != "]":
            cursor.step()
        cursor.need("]")
        found = f"ARRAY({found})"
    return found


def _nested(cursor: Cursor, types: Types, notes: list[str]) -> str:
    if cursor.take_any(*_ROWS):
        return f"ROW({', '.join(_field(each, types, notes) for each in _inside(cursor))})"
    if cursor.take("ARRAY"):
        (element,) = _inside(cursor)
        return f"ARRAY({_inner(element, types, notes)})"
    if cursor.take("MAP"):
        key, value = _inside(cursor)
        return f"MAP({_inner(key, types, notes)}, {_inner(value, types, notes)})"
    return ""


def _inside(cursor: Cursor) -> list[Cursor]:
    """Return the items between ``<`` and ``>``, or brackets."""
    if cursor.is_open():
        return cursor.group().items()
    cursor.need("<")
    start, depth = cursor.at, 1
    while depth:
        word = cursor.step().token_type
        depth += (word is TokenType.LT) - (word is TokenType.GT)
    return Cursor(cursor.text, cursor.tokens[start : cursor.at - 1]).items()


def _field(cursor: Cursor, types: Types, notes: list[str]) -> str:
    name = cursor.step().text
    cursor.take(":")
    return f"{column_name(name)} {_inner(cursor, types, notes)}"


def _inner(cursor: Cursor, types: Types, notes: list[str]) -> str:
    """Read a type within another one, which cannot say NOT NULL here."""
    found = read_type(cursor, types, notes)
    cursor.take("NOT NULL")
    return found


def _plain(cursor: Cursor, types: Types, notes: list[str]) -> str:
    written = cursor.take_any(*sorted(types, key=len, reverse=True))
    if not written:
        cursor.give_up("the type is not known", "write one that Headwater has")
    sizes = ""
    if cursor.is_open():
        sizes = cursor.group().rest
    zoned = bool(cursor.take_any(*_ZONES))
    cursor.take("WITHOUT TIME ZONE")
    entry = types[written]
    found, note = (entry, "") if isinstance(entry, str) else entry
    if not found:
        raise LeftOut(f"type {written} has no equal here: {note}", "choose another type")
    if found.startswith("TIMESTAMP"):
        digits = f"({sizes})" if sizes else ""
        return f"TIMESTAMP{digits}{' WITH TIME ZONE' if zoned or found != 'TIMESTAMP' else ''}"
    if found.startswith(_SIZED) and sizes:
        return f"DECIMAL({sizes})"
    if note:
        notes.append(note)
    return found
