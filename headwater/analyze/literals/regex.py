r"""Regular expressions as Trino reads them, as far as all engines can mean the same.

In: the text of a pattern. Out: a :class:`~headwater.analyze.literals.regex_tree.Regex`. Trino 476
has Joni with Java's syntax, Spark java.util.regex, DuckDB RE2. They agree on what is parsed here,
once letters such as ``\w`` and ``.`` are written as the sets of characters that Trino means.
"""

from __future__ import annotations

import re
from functools import lru_cache

from headwater.analyze.literals import characters as c
from headwater.analyze.literals.letters import without_case
from headwater.analyze.literals.mistake import Mistake
from headwater.analyze.literals.regex_tree import (
    Anchor,
    Chars,
    Choice,
    Group,
    Node,
    Regex,
    Repeat,
    Sequence,
    children,
    nullable,
)

MOST_REPEATS = 1000
"""RE2's limit, also of repeats within repeats."""

_CLASSES = {
    "d": c.DIGITS,
    "w": c.WORD,
    "s": c.SPACE,
    "D": c.complement(c.DIGITS),
    "W": c.complement(c.WORD),
    "S": c.complement(c.SPACE),
}
_CONTROLS = {"t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D, "a": 0x07, "e": 0x1B}
_COUNT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_CODE = re.compile(r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-7][0-9A-Fa-f])|u([0-9A-Fa-f]{4}))")
_FLAGS = re.compile(r"\(\?([ims]*)(?:-([ims]*))?([:)])")
_NAME = re.compile(r"\(\?<([A-Za-z][A-Za-z0-9_]*)>")
_NO_OTHER = "lookaround, atomic groups and backreferences do not exist in every engine"
_INSTEAD = {
    "b": "write what may stand there: (^|[^A-Za-z0-9_])word([^A-Za-z0-9_]|$)",
    "B": "write what may stand there: [A-Za-z0-9_]word",
    "Z": "write $ for the end of the text, or \\z",
    "G": "write ^ for the start of the text",
    "p": "list the characters: [A-Za-zÀ-ÿ]",
    "P": "list the characters: [^A-Za-z]",
    "Q": "write a backslash before each of . * + ? ( ) [ ] { } | ^ $",
    "h": "write [ \\t]",
    "R": "write \\r?\\n",
    "k": "write the text again",
}


@lru_cache(maxsize=512)
def parse(text: str) -> Regex:
    """Return the tree of a pattern.

    Raises:
        Mistake: the pattern is malformed, or engines read it differently.
    """
    return _Parser(text).pattern()


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._groups = 0
        self._names: dict[str, int] = {}
        self._flags = frozenset[str]()

    def pattern(self) -> Regex:
        """Read the whole text."""
        while (found := _FLAGS.match(self._text, self._at)) and found[3] == ")":
            self._flags = (self._flags | set(found[1])) - set(found[2] or "")
            self._at = found.end()
        root = self._choice()
        if self._at < len(self._text):
            raise self._malformed("unmatched )", "remove it, or write \\)")
        _check_size(root)
        return Regex(root, self._groups, self._names)

    def _choice(self) -> Node:
        branches = [self._sequence()]
        while self._next("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def _sequence(self) -> Node:
        items: list[Node] = []
        run = ""  # letters, which may be one letter when case does not count
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            start = self._at
            letter = self._letter()
            if letter is None:
                items += self._spelled(run, start)
                run = ""
                items.append(self._repeated(self._atom(), start))
            elif self._repeats():
                items += self._spelled(run, start)
                run = ""
                items.append(self._repeated(self._one(letter, start), start))
            else:
                run += letter
        items += self._spelled(run, self._at)
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    # -- letters

    def _letter(self) -> str | None:
        """Read a character that means itself, None if there is none."""
        char = self._text[self._at]
        if char == "\\":
            return self._escaped_letter()
        if char in "()[.^$|*+?":
            return None
        if char == "{" and self._text.startswith("{,", self._at):
            raise self._differs("{,", "write {0,", 2)
        if char == "{" and _COUNT.match(self._text, self._at):
            return None
        self._at += 1
        return char

    def _escaped_letter(self) -> str | None:
        if found := _CODE.match(self._text, self._at):
            code = int(found[1] or found[2] or found[3], 16)
            if code > c.LAST or 0xD800 <= code <= 0xDFFF:
                raise self._malformed(f"no character {found[0]}", "write the character itself")
            self._at = found.end()
            return chr(code)
        char = self._text[self._at + 1 : self._at + 2]
        if not char:
            raise self._malformed("a backslash at the end", "write \\\\ for a backslash")
        if char in _CLASSES or char in "Az":
            return None
        if char in _CONTROLS:
            self._at += 2
            return chr(_CONTROLS[char])
        if char.isalnum():
            instead = "write the text again" if char.isdigit() else f"write {char} without \\"
            raise self._differs("\\" + char, _INSTEAD.get(char, instead), 2)
        self._at += 2
        return char

    def _one(self, letter: str, at: int) -> Node:
        """A single letter on which a quantifier stands."""
        if "i" in self._flags and len(c.folded(letter)) > 1:
            raise Mistake(
                f"{letter} is several letters when case does not count",
                "put it in brackets: (?:" + letter + ")",
                at,
                condition="NOT_PORTABLE",
            )
        return self._spelled(letter, at)[0]

    def _spelled(self, run: str, end: int) -> list[Node]:
        """The nodes of letters that stand one after another and end at an offset."""
        if "i" not in self._flags or not run:
            return [Chars(c.single(ord(letter))) for letter in run]
        for letter in run:
            if not c.folds(ord(letter)):
                raise Mistake(
                    f"engines do not agree on the other case of {letter}",
                    "leave (?i) out and write both cases: [aA]",
                    self._text.rfind(letter, 0, end),
                    condition="NOT_PORTABLE",
                )
        return without_case(c.folded(run))

    # -- the other atoms

    def _atom(self) -> Node:
        start, char = self._at, self._text[self._at]
        if char == "(":
            return self._group()
        if char == "[":
            return Chars(self._class())
        if char == "\\":
            self._at += 2
            name = self._text[start + 1]
            if name in "Az":
                return Anchor("start" if name == "A" else "very end", start)
            return Chars(_CLASSES[name])
        if char in "*+?{":
            raise self._malformed(f"nothing to repeat before {char}", f"write \\{char}")
        self._at += 1
        lines = "m" in self._flags
        if char == "^":
            return Anchor("line start" if lines else "start", start)
        if char == "$":
            return Anchor("line end" if lines else "end", start)
        return Chars(c.EVERY if "s" in self._flags else c.complement(c.LINE_FEED))

    def _group(self) -> Node:
        start, flags = self._at, self._flags
        number = None
        if found := _FLAGS.match(self._text, start):
            if found[3] == ")":
                raise self._differs(
                    found[0],
                    f"write (?{found[0][2:-1]}:…) around what it is for",
                    len(found[0]),
                )
            self._flags = (flags | set(found[1])) - set(found[2] or "")
            self._at = found.end()
        elif found := _NAME.match(self._text, start):
            number = self._counted()
            if found[1] in self._names:
                raise self._differs(found[0], "give each group its own name", len(found[0]))
            self._names[found[1]] = number
            self._at = found.end()
        elif self._text.startswith("(?", start):
            raise self._differs(self._text[start : start + 3], _NO_OTHER, 3)
        else:
            number = self._counted()
            self._at += 1
        body = self._choice()
        self._flags = flags
        if not self._next(")"):
            self._at = start
            raise self._malformed("unmatched (", "close it with ), or write \\(")
        return body if number is None else Group(body, number, start)

    def _counted(self) -> int:
        self._groups += 1
        return self._groups

    def _repeats(self) -> bool:
        char = self._text[self._at : self._at + 1]
        return bool(char) and (
            char in "*+?" or (char == "{" and _COUNT.match(self._text, self._at) is not None)
        )

    def _repeated(self, body: Node, start: int) -> Node:
        at = self._at
        if not self._repeats():
            return body
        if isinstance(body, Anchor):
            raise self._differs("a repeated place", "remove what repeats")
        if found := _COUNT.match(self._text, at):
            low = int(found[1])
            high = low if not found[2] else int(found[3]) if found[3] else None
            self._at = found.end()
        else:
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[self._text[at]]
            self._at += 1
        if high is not None and high < low:
            self._at = at
            raise self._malformed("the range of repeats is empty", "write the smaller number first")
        lazy = self._next("?")
        if self._at < len(self._text) and self._repeats():
            raise self._differs(
                self._text[at : self._at + 1], "put the first repeat in brackets: (?:a+)*"
            )
        if high != 1 and nullable(body):
            self._at = start
            raise self._differs(
                f"the repeat {self._text[start : at + 1]}",
                "repeat what is at least one character long",
            )
        return Repeat(body, low, high, lazy, at)

    # -- classes

    def _class(self) -> c.Ranges:
        start = self._at
        self._at += 1
        negated = self._next("^")
        found: list[c.Ranges] = []
        while self._at == start + 1 + negated or not self._text.startswith("]", self._at):
            if self._at >= len(self._text):
                self._at = start
                raise self._malformed("unmatched [", "close it with ], or write \\[")
            found.append(self._member())
        self._at += 1
        chars = c.union(*found)
        if "i" in self._flags:
            chars = c.without_case(chars)
        return c.complement(chars) if negated else chars

    def _member(self) -> c.Ranges:
        r"""One character, range or letter such as ``\d`` of a class."""
        start = self._at
        low = self._class_letter()
        if not isinstance(low, int):
            return low
        if not self._text.startswith("-", self._at) or self._text[self._at + 1 :][:1] in ("]", ""):
            self._check_case(low, low, start)
            return c.single(low)
        self._at += 1
        high = self._class_letter()
        if not isinstance(high, int) or high < low:
            self._at = start
            raise self._malformed("the range of characters is empty", "write \\- for a hyphen")
        if self._text.startswith("-", self._at) and self._text[self._at + 1 :][:1] != "]":
            raise self._differs("- behind a range", "write \\- for a hyphen")
        self._check_case(low, high, start)
        return ((low, high),)

    def _class_letter(self) -> int | c.Ranges:
        char = self._text[self._at : self._at + 1]
        if char == "[":
            named = self._text.startswith("[:", self._at)
            hint = "list the characters: [A-Za-z0-9]" if named else "write \\[ for a bracket"
            raise self._differs("[:" if named else "[ in a class", hint, 1 + named)
        if self._text.startswith("&&", self._at):
            raise self._differs("&&", "list the characters, or write \\&\\&", 2)
        if char == "\\":
            if self._text.startswith("\\b", self._at):
                raise self._differs("\\b in a class", "write \\x08", 2)
            letter = self._escaped_letter()
            if letter is not None:
                return ord(letter)
            name = self._text[self._at + 1]
            if name in "Az":
                raise self._differs("\\" + name, f"write {name} without \\", 2)
            self._at += 2
            return _CLASSES[name]
        self._at += 1
        return ord(char)

    def _check_case(self, low: int, high: int, at: int) -> None:
        """Refuse what is several letters, or nobody knows which, when case does not count."""
        if "i" not in self._flags:
            return
        known = high < 0x80 or (high - low < 1000 and all(map(c.folds, range(low, high + 1))))
        if not known or c.folds_to_several(low, high):
            shown = self._text[at : self._at]
            raise Mistake(
                f"engines do not agree on the other cases of {shown}",
                "leave (?i) out and write both cases: [aA]",
                at,
                len(shown),
                condition="NOT_PORTABLE",
            )

    # -- places and mistakes

    def _next(self, char: str) -> bool:
        found = self._text.startswith(char, self._at)
        self._at += len(char) if found else 0
        return found

    def _malformed(self, message: str, hint: str) -> Mistake:
        return Mistake(f"malformed pattern: {message}", hint, min(self._at, len(self._text) - 1))

    def _differs(self, what: str, hint: str, length: int = 1) -> Mistake:
        message = f"{what} does not mean the same in every engine"
        return Mistake(message, hint, self._at, length, condition="NOT_PORTABLE")


def _check_size(node: Node, within: int = 1) -> None:
    if isinstance(node, Repeat):
        within *= max(node.low, node.high or 1, 1)
        if within > MOST_REPEATS:
            message = f"DuckDB repeats no more than {MOST_REPEATS} times"
            hint = "write * or +, and compare length(…)"
            raise Mistake(message, hint, node.at, condition="NOT_PORTABLE")
    for child in children(node):
        _check_size(child, within)
