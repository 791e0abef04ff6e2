"""Which known name a person meant by one that is not known.

In: a name as written, and the names that there are. Out: the name that is spelled most like it, or
a hint that lists them. Every look-up of a name goes through here.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

_LISTED = 12
"""So many names a hint lists."""
ALIKE = 0.6
"""How much two names have in common at least, from 0 to 1, if one is meant by the other."""


def nearest(name: str, known: Iterable[str], cutoff: float = ALIKE) -> str:
    """Return the known name that is spelled most like a name, in any case; empty if none is.

    Args:
        name: as written.
        known: the names that there are.
        cutoff: how alike they must be, from 0 to 1.
    """
    names = list(dict.fromkeys(known))
    if slip := slip_of(name, names):
        return slip
    sought = name.lower()
    ranked = []
    for each in names:
        matcher = SequenceMatcher(None, each.lower(), sought)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            ranked.append((matcher.ratio(), each))
    score, found = max(ranked, default=(0.0, ""))
    return found if score >= cutoff else ""


def did_you_mean(name: str, known: Iterable[str], what: str) -> str:
    """Return a hint for an unknown name: the nearest one, or what there is.

    Args:
        name: as written.
        known: the names that there are.
        what: plural noun for the list, for example ``columns``.
    """
    names = sorted(set(known))
    if near := nearest(name, names):
        return f"did you mean {near}?"
    if not names:
        return f"there are no {what} here"
    more = ", …" if len(names) > _LISTED else ""
    return f"{what} are: {', '.join(names[:_LISTED])}{more}"


def slip_of(word: str, known: Iterable[str]) -> str:
    """Return the known word of which a word is one slip of the fingers away; empty if none is.

    A slip is a letter too many, too few, wrong, or two that changed places. Of two letters, only
    the last one counts: everything is near to them.

    Args:
        word: as written, in any case.
        known: the words that there are.
    """
    sought = word.lower()
    found = [each for each in known if _is_slip(sought, each.lower())]
    return max(
        found, key=lambda each: SequenceMatcher(None, each.lower(), sought).ratio(), default=""
    )


def _is_slip(word: str, known: str) -> bool:
    at = next((i for i, (a, b) in enumerate(zip(word, known, strict=False)) if a != b), None)
    if at is None:
        return abs(len(word) - len(known)) == 1 and min(len(word), len(known)) > 2
    if len(word) == len(known) and word[at : at + 2] == known[at : at + 2][::-1]:
        return word[at + 2 :] == known[at + 2 :]
    if min(len(word), len(known)) <= 2:
        return False
    return (
        word[at + 1 :] == known[at + 1 :]
        or word[at + 1 :] == known[at:]
        or word[at:] == known[at + 1 :]
    )
