r"""A parsed pattern → the pattern of an engine.

In: a :class:`~headwater.analyze.literals.regex_tree.Regex`. Out: text for Spark (java.util.regex)
and DuckDB (RE2). Sets are spelled out, so that no engine's own ``\w``, ``.`` or ``(?i)`` is asked.

``$`` is also before a last line feed. Spark looks ahead; RE2 cannot, so DuckDB matches the line
feed in a group of its own, which the caller puts back.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Sequence_
from dataclasses import dataclass

from headwater.analyze.literals import characters as c
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
    certain_groups,
    children,
    ends,
    last_places,
    longest,
    nullable,
    shortest,
    walk,
)

Part = str | int
"""A part of a replacement: a text, or the number of a group."""

_JAVA = {
    "start": r"\A",
    "very end": r"\z",
    "end": r"(?=\n?\z)",
    "line start": "(?dm:^)",
    "line end": "(?dm:$)",
}
_RE2 = {**_JAVA, "end": r"\n?\z", "line start": "(?m:^)", "line end": "(?m:$)"}
_AT_END = "write \\z, which is the very end of the text"
_MOST_GROUPS = 9


@dataclass(frozen=True, slots=True)
class Re2Groups:
    """A pattern for DuckDB whose groups have other numbers.

    Attributes:
        text: the pattern.
        numbers: new numbers of each group; of the whole match, the first, there may be several, of
            which one takes part.
        line_feeds: groups that hold the line feed behind ``$``.
    """

    text: str
    numbers: Mapping[int, tuple[int, ...]]
    line_feeds: tuple[int, ...] = ()


def java(regex: Regex) -> str:
    """Return a pattern for Spark."""
    return _print(regex.root, _JAVA)


def re2_test(regex: Regex) -> str:
    """Return a pattern for DuckDB of which only counts whether it matches."""
    return _print(regex.root, _RE2)


def re2_extract(regex: Regex, group: int) -> Re2Groups:
    """Return a pattern for DuckDB and what of it is the group of Trino's pattern."""
    return _in_groups(regex, whole=group == 0)


def re2_replace(regex: Regex, parts: Sequence_[Part]) -> Re2Groups:
    """Return a pattern for DuckDB whose match may end with a line feed that is to be put back.

    Args:
        regex: the pattern.
        parts: the replacement.
    """
    return _in_groups(regex, whole=0 in parts)


def check(regex: Regex) -> None:
    """Refuse what RE2 cannot do, whatever the function.

    Raises:
        Mistake: the pattern has ``$`` where more may follow, or a start of lines alone.
    """
    last = list(last_places(regex.root))
    for anchor in ends(regex.root):
        if not any(each is anchor for each in last):
            raise Mistake(
                "$ with more behind it does not mean the same in every engine",
                "write (?m) at the start for ends of lines, or \\z for the end of the text",
                anchor.at,
                condition="NOT_PORTABLE",
            )
    _check_lines(regex.root)
    if all(map(_is_optional_end, regex.branches)):
        raise Mistake(
            "what may be missing before the end does not mean the same in every engine",
            "write + for ? or *, or test the whole text: ^…$",
            0,
            condition="NOT_PORTABLE",
        )


def check_extract(regex: Regex, group: int) -> None:
    """Refuse groups that a match need not have, and those that ``$`` is in.

    Raises:
        Mistake: the group is NULL in Trino and empty elsewhere, or ends otherwise.
    """
    if group and group not in certain_groups(regex.root):
        at = next((n.at for n in walk(regex.root) if isinstance(n, Group) and n.number == group), 0)
        raise Mistake(
            f"group {group} need not take part in a match: then engines differ",
            "put what is optional in brackets: (a?)",
            at,
            condition="NOT_PORTABLE",
        )
    for node in walk(regex.root):
        if isinstance(node, Group) and node.number == group and (found := ends(node)):
            raise _no_end("$ in the group", found[0])
    if not group:
        _check_branches(regex)


def check_replace(regex: Regex, parts: Sequence_[Part]) -> None:
    """Refuse patterns whose empty matches engines count differently.

    Raises:
        Mistake: the pattern may match the empty text, or ends otherwise in RE2.
    """
    _check_branches(regex)
    found = re2_replace(regex, parts)
    if max((*found.line_feeds, *(max(n) for n in found.numbers.values()))) > _MOST_GROUPS:
        message = f"DuckDB replaces with no more than {_MOST_GROUPS} groups"
        raise Mistake(message, "write (?:…) for brackets only", 0, condition="NOT_PORTABLE")
    places = {node.place for node in walk(regex.root) if isinstance(node, Anchor)}
    if nullable(regex.root):
        simple = isinstance(regex.root, Anchor) and regex.root.place in ("start", "very end")
        deletes = not parts and not any(
            isinstance(node, Choice) or (isinstance(node, Repeat) and node.lazy)
            for node in walk(regex.root)
        )
        if not simple and not (deletes and not places & {"line start", "line end"}):
            raise Mistake(
                "engines do not replace the same empty matches",
                "write + for *: what is replaced must be at least one character long",
                0,
                condition="NOT_PORTABLE",
            )
    finds = any(map(_finds_line_feed, regex.branches))
    for branch in regex.branches:
        if finds and ends(branch) and not _takes_line_feed(branch):
            raise _no_end("$ in a pattern that may match a line break", ends(branch)[0])


def check_all(regex: Regex, group: int) -> None:
    """Refuse a pattern whose matches, one after the other, engines do not find alike.

    Args:
        regex: the pattern.
        group: what is returned of each match.

    Raises:
        Mistake: with its place.
    """
    check(regex)
    check_extract(regex, group)
    if nullable(regex.root) or ends(regex.root):
        raise Mistake(
            "engines do not find the same empty matches, or the same end",
            "match at least one character, and leave $ out",
            0,
            condition="NOT_PORTABLE",
        )


def _no_end(what: str, anchor: Anchor) -> Mistake:
    message = f"{what} does not mean the same in every engine"
    return Mistake(message, _AT_END, anchor.at, condition="NOT_PORTABLE")


def _check_branches(regex: Regex) -> None:
    for anchor in ends(regex.root):
        if not any(anchor is _end_of(branch) for branch in regex.branches):
            raise _no_end("$ in brackets", anchor)


def _check_lines(node: Node) -> None:
    """A start of a line is also behind a last line feed in RE2, in others not."""
    if isinstance(node, Sequence):
        for at, item in enumerate(node.items):
            if isinstance(item, Anchor) and item.place == "line start":
                if all(map(nullable, node.items[at + 1 :])):
                    raise _no_line(item)
            else:
                _check_lines(item)
    elif isinstance(node, Anchor):
        if node.place == "line start":
            raise _no_line(node)
    else:
        for child in children(node):
            _check_lines(child)


def _no_line(anchor: Anchor) -> Mistake:
    message = "^ of an empty line does not mean the same in every engine"
    return Mistake(
        message, "match a character behind it: (?m)^.", anchor.at, condition="NOT_PORTABLE"
    )


def _end_of(branch: Node) -> Anchor | None:
    last = branch.items[-1] if isinstance(branch, Sequence) and branch.items else branch
    return last if isinstance(last, Anchor) and last.place == "end" else None


def _is_optional_end(branch: Node) -> bool:
    """Return whether Trino 476 misses a branch: its Joni looks for a short end from too far back.

    ``1?$`` is not found in a text whose last character has more bytes than the match may have.
    """
    items = branch.items if isinstance(branch, Sequence) else (branch,)
    last = items[-1] if items else None
    at_end = isinstance(last, Anchor) and last.place in ("end", "very end")
    at_start = bool(items) and isinstance(items[0], Anchor) and items[0].place == "start"
    return at_end and not at_start and nullable(branch) and bool(longest(branch))


def _takes_line_feed(branch: Node) -> bool:
    """Return whether a branch ends with a greedy repeat that would match a last line feed."""
    items = branch.items if isinstance(branch, Sequence) else (branch,)
    before = items[-2] if len(items) > 1 else None
    return (
        isinstance(before, Repeat)
        and before.high is None
        and not before.lazy
        and isinstance(before.body, Chars)
        and c.holds(before.body.ranges, 0x0A)
    )


def _finds_line_feed(branch: Node) -> bool:
    """Return whether a branch may match the last line feed, and no more, behind another match."""
    items = branch.items if isinstance(branch, Sequence) else (branch,)
    at_start = bool(items) and isinstance(items[0], Anchor) and items[0].place == "start"
    return (
        not at_start
        and shortest(branch) <= 1
        and any(isinstance(n, Chars) and c.holds(n.ranges, 0x0A) for n in walk(branch))
    )


def _in_groups(regex: Regex, *, whole: bool) -> Re2Groups:
    """Return a pattern in which each branch that ends with ``$`` has its line feed in a group.

    Args:
        regex: the pattern.
        whole: whether its match without that line feed is asked for.
    """
    if not ends(regex.root):
        same = {number: (number,) for number in range(regex.groups + 1)}
        return Re2Groups(_print(regex.root, _RE2), same)
    texts, numbers, wholes, line_feeds, count = [], {}, [], [], 0
    for branch in regex.branches:
        end = _end_of(branch)
        body: Node = branch
        if end is not None:
            body = Sequence(branch.items[:-1] if isinstance(branch, Sequence) else ())
        if whole:
            count += 1
            wholes.append(count)
        for node in walk(body):
            if isinstance(node, Group):
                count += 1
                numbers[node.number] = (count,)
        text = _print(body, _RE2, within="sequence")
        text = f"({text})" if whole else text
        if end is not None:
            count += 1
            line_feeds.append(count)
            text += r"(\n?)\z"
        texts.append(text)
    return Re2Groups("|".join(texts), {0: tuple(wholes) or (0,), **numbers}, tuple(line_feeds))


def _print(node: Node, places: Mapping[str, str], within: str = "choice") -> str:
    def inner(each: Node) -> str:
        return _print(each, places, "sequence")

    match node:
        case Chars():
            return c.printed(node.ranges)
        case Anchor():
            return places[node.place]
        case Sequence():
            text = "".join(map(inner, node.items))
            return text if within != "repeat" else f"(?:{text})"
        case Choice():
            text = "|".join(map(inner, node.branches))
            return text if within == "choice" else f"(?:{text})"
        case Group():
            return f"({_print(node.body, places)})"
        case Repeat():
            text = _print(node.body, places, "repeat") + _count(node) + ("?" if node.lazy else "")
            return text if within != "repeat" else f"(?:{text})"


def _count(node: Repeat) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((node.low, node.high))
    if short:
        return short
    if node.low == node.high:
        return f"{{{node.low}}}"
    return f"{{{node.low},{'' if node.high is None else node.high}}}"
