"""Unknown fields in the counts of a marker: how many records had them, by name.

In: what an epoch of a landed table has found (``headwater.formats.unknown_fields``). Out: counts
that the marker of its quarantine carries on, since the beginning, and back. Knows no Spark, so that
``status`` reads them too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

COUNT = "unknown:"
"""Begins the names of such counts; what follows is the field."""
OTHERS = "…"
"""Stands for all fields beyond :data:`MOST_FIELDS`."""
MOST_FIELDS = 20


def with_fields(counts: Mapping[str, int], found: Mapping[str, int]) -> dict[str, int]:
    """Return the counts of a marker with the unknown fields of one more epoch.

    Args:
        counts: those before.
        found: records by field.

    Returns:
        The counts; those of the rarest fields are one, if there are many.
    """
    rest = {key: n for key, n in counts.items() if not key.startswith(COUNT)}
    total = Counter(fields_in(counts))
    total.update(found)
    others = total.pop(OTHERS, 0)
    ranked = sorted(total.items(), key=lambda item: (-item[1], item[0]))
    others += sum(records for _, records in ranked[MOST_FIELDS:])
    kept = dict(ranked[:MOST_FIELDS]) | ({OTHERS: others} if others else {})
    return rest | {COUNT + field: records for field, records in kept.items()}


def fields_in(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how many records had each unknown field, the most frequent first.

    Args:
        counts: the counts of a marker.
    """
    found = {key.removeprefix(COUNT): n for key, n in counts.items() if key.startswith(COUNT)}
    return dict(sorted(found.items(), key=lambda item: (item[0] == OTHERS, -item[1], item[0])))


def in_words(fields: Mapping[str, int]) -> str:
    """Return unknown fields with their counts, as messages say them.

    Args:
        fields: records by field.
    """
    ranked = fields_in(with_fields({}, fields))
    return ", ".join(
        f'"{field}" ({records} record{"s" if records > 1 else ""})' if field != OTHERS else "others"
        for field, records in ranked.items()
    )
