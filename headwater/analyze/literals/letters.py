"""Letters of a regular expression when case does not count.

In: a run of letters as they are compared. Out: nodes for all ways to write them; in Trino ``ss``
is also ``ß``, and ``fi`` is also the ligature of both.
"""

from __future__ import annotations

from headwater.analyze.literals import characters as c
from headwater.analyze.literals.regex_tree import Chars, Choice, Node, Sequence


def without_case(text: str) -> list[Node]:
    """Return the nodes of a folded text.

    Args:
        text: letters that stand one after another, folded.
    """
    nodes: list[Node] = []
    at = 0
    while at < len(text):
        end = _joined_until(text, at)
        nodes.append(_spellings(text[at:end]))
        at = end
    return nodes


def _joined_until(text: str, at: int) -> int:
    """Where the characters end that ligatures join to the one at an offset."""
    end = at + 1
    start = at
    while start < end:
        for length in range(2, c.longest_ligature() + 1):
            if start + length <= len(text) and c.ligatures(text[start : start + length]):
                end = max(end, start + length)
        start += 1
    return end


def _spellings(text: str) -> Node:
    """All ways to write a folded text, with ligatures or without; the longer first."""
    if not text:
        return Sequence(())
    if len(text) == 1:
        return Chars(c.same_letter(text))
    ways: list[Node] = []
    for length in range(1, min(len(text), c.longest_ligature()) + 1):
        head = c.same_letter(text[0]) if length == 1 else c.ligatures(text[:length])
        if head:
            rest = _spellings(text[length:])
            tail = rest.items if isinstance(rest, Sequence) else (rest,)
            ways.append(Sequence((Chars(head), *tail)))
    return ways[0] if len(ways) == 1 else Choice(tuple(ways))
