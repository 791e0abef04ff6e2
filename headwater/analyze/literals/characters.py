"""Sets of characters, and which characters are one when case does not count.

In: code points. Out: sets as sorted ranges, printed as a class of a regular expression that Java
and RE2 read alike; and Trino's case folding.
"""

from __future__ import annotations

from functools import cache

LAST = 0x10FFFF
Ranges = tuple[tuple[int, int], ...]

DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
LINE_FEED: Ranges = ((0x0A, 0x0A),)
EVERY: Ranges = ((0, LAST),)

_FOLDED: Ranges = (
    *((0x00, 0x37E), (0x380, 0x527), (0x531, 0x587), (0x1E00, 0x1E9D), (0x1E9F, 0x1FFC)),
    *((0x2126, 0x2126), (0x212A, 0x212B), (0x2160, 0x217F), (0x24B6, 0x24E9), (0xFB00, 0xFB17)),
    *((0xFF21, 0xFF5A), (0x10400, 0x1044F)),
)
"""Characters whose case Trino folds as the newest Unicode does; Trino's tables are older."""
_CONTROLS = {0x09: r"\t", 0x0A: r"\n", 0x0C: r"\f", 0x0D: r"\r"}
_PLAIN = " _-:,/@#%\"'<>=!;~`&"


def single(code: int) -> Ranges:
    """Return the set of one character."""
    return ((code, code),)


def union(*sets: Ranges) -> Ranges:
    """Return the characters of all sets."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(item for each in sets for item in each):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def complement(chars: Ranges) -> Ranges:
    """Return all other characters."""
    found, start = [], 0
    for low, high in chars:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    return (*found, (start, LAST)) if start <= LAST else tuple(found)


def holds(chars: Ranges, code: int) -> bool:
    """Return whether a set holds a character."""
    return any(low <= code <= high for low, high in chars)


# -- case


def folds(code: int) -> bool:
    """Return whether it is known what else a character is when case does not count."""
    return holds(_FOLDED, code) or not _has_case(chr(code))


def folded(text: str) -> str:
    """Return a text as it is compared when case does not count; ``ß`` becomes ``ss``."""
    return "".join(char.casefold() if holds(_FOLDED, ord(char)) else char for char in text)


def same_letter(char: str) -> Ranges:
    """Return the single characters that fold to a folded character."""
    return union(single(ord(char)), _by_fold().get(char, ()))


def ligatures(folded_text: str) -> Ranges:
    """Return the single characters that fold to several, such as ``ß`` to ``ss``."""
    return _by_fold().get(folded_text, ())


def longest_ligature() -> int:
    """Return how many characters one character folds to at most."""
    return max(map(len, _by_fold()))


def without_case(chars: Ranges) -> Ranges:
    """Return a set with the other cases of its characters."""
    others = [
        same_letter(chr(code).casefold())
        for low, high in _FOLDED
        for code in range(low, high + 1)
        if _has_case(chr(code)) and len(chr(code).casefold()) == 1 and holds(chars, code)
    ]
    return union(chars, *others)


def folds_to_several(low: int, high: int) -> bool:
    """Return whether a range holds a character that folds to several."""
    return any(
        len(chr(code).casefold()) > 1
        for first, last in _FOLDED
        for code in range(max(first, low), min(last, high) + 1)
    )


@cache
def _by_fold() -> dict[str, Ranges]:
    found: dict[str, list[tuple[int, int]]] = {}
    for low, high in _FOLDED:
        for code in range(low, high + 1):
            if (fold := chr(code).casefold()) != chr(code):
                found.setdefault(fold, []).append((code, code))
    return {fold: union(tuple(chars)) for fold, chars in found.items()}


def _has_case(char: str) -> bool:
    return char.casefold() != char or char.upper() != char or char.lower() != char


# -- printing


def printed(chars: Ranges) -> str:
    """Return a set as part of a pattern that Java and RE2 read alike."""
    if not chars:
        return r"[^\x{0}-\x{10FFFF}]"
    if len(chars) == 1 and chars[0][0] == chars[0][1]:
        return character(chars[0][0], plain=_PLAIN)
    others = complement(chars)
    if len(others) < len(chars):
        return f"[^{_members(others)}]" if others else r"[\x{0}-\x{10FFFF}]"
    return f"[{_members(chars)}]"


def character(code: int, plain: str = " _") -> str:
    """Return one character as part of a pattern.

    Args:
        code: its code point.
        plain: ASCII characters beside letters and digits that mean themselves.
    """
    char = chr(code)
    if char.isascii():
        if char.isalnum() or char in plain:
            return char
        return "\\" + char if char.isprintable() else _CONTROLS.get(code, rf"\x{{{code:X}}}")
    return char if char.isalnum() else rf"\x{{{code:X}}}"


def _members(chars: Ranges) -> str:
    return "".join(
        character(low) + ("" if low == high else ("-" if high > low + 1 else "") + character(high))
        for low, high in chars
    )
