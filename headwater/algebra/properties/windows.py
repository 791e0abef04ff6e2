"""Windows: which bounds of theirs say no more than the other bound."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from headwater.algebra.nodes import FlatMap, Node, TimeWindows, from_bottom


def least_keys(keys: Sequence[str], shown: Collection[str], rows: Node) -> list[str]:
    """Return the keys of groups that tell them: without a bound of a window beside the other one.

    Args:
        keys: columns of the rows.
        shown: those that a view shows, which stay.
        rows: what is grouped.
    """
    found = [*keys]
    for start, end in _windows(rows):
        if start in found and end in found:
            more = start if end in shown and start not in shown else end
            if more not in shown:
                found.remove(more)
    return found


def _windows(rows: Node) -> Iterator[tuple[str, str]]:
    """The names of start and end where either tells the other: CUMULATE's starts are shared."""
    for node in from_bottom(rows):
        match node:
            case FlatMap(_, TimeWindows(call), (start, end)) if call.args["kind"] != "cumulate":
                yield start.name, end.name
