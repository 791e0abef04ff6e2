"""Fields of records that the definition does not name: left out, but counted by name.

In: the definition, and records: JSON text, or the names that a file has for all its records. Out:
the column ``_unknown`` of every decoding (:mod:`headwater.intake.decode`): JSON text of an array of
names, NULL for a record without unknown fields; and the counts of an epoch, by name.

A field counts where it has a value: one that is null says nothing. Of a change event the fields
of the row count. Fields inside a value are the column's own business, and are not looked at.

Listing the keys of a record costs as much as parsing it. So a count comes first: a JSON text has at
least as many ``":`` as fields, and the row made of it at most as many values as fields. Where both
numbers are the same, every field has its column. That is asked of each record whose columns are not
nested. Flat lines (``headwater.intake.connectors.flat``)
have their text in one pass and their values in another; there the sums over all lines are compared:
no line has more values than ``":``, so equal sums are equal in each line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import Column
from headwater.intake.sqltext import name, text
from headwater.lake.fields import OTHERS

UNKNOWN, VALUES = "_unknown", "_values"
"""Columns of a decoding: the unknown fields of a record, and how many values its row has."""
NONE = "CAST(NULL AS STRING)"
_LONGEST_NAME, _MOST_OF_ONE = 64, 100
"""Of a name, and of the unknown fields of one record, as far as they are looked at."""
_SETS = 10_000
"""Different sets of unknown fields that a pass over an epoch counts exactly, about."""


def of_names(names: Iterable[str], known: Collection[str]) -> str:
    """Return ``_unknown`` of records that all have the same fields.

    Args:
        names: the fields.
        known: those that the definition names.
    """
    unknown = sorted(set(names).difference(known))
    return text(json.dumps(unknown, ensure_ascii=False)) if unknown else NONE


def of_json(document: str, known: Collection[str]) -> str:
    """Return ``_unknown`` of a JSON object.

    Args:
        document: expression of its text.
        known: the fields that the definition names.
    """
    listed = ", ".join(map(text, known))
    fields = f"from_json({document}, 'MAP<STRING, STRING>')"
    valued = f"map_filter({fields}, (k, v) -> v IS NOT NULL AND k NOT IN ({listed}))"
    return (
        f"CASE WHEN size(array_except(json_object_keys({document}), array({listed}))) > 0"
        f" THEN nullif(to_json(transform(slice(array_sort(map_keys({valued})), 1, {_MOST_OF_ONE}),"
        f" k -> left(k, {_LONGEST_NAME + 1}))), '[]') END"
    )


def values_in(record: str, blanks: str = " \t\r") -> str:
    """Return how many fields of a JSON text have a value, at most; NULL if that is not known.

    Args:
        record: expression of the text.
        blanks: what can stand between a name and its colon; in a line there is no line feed.
    """
    fields, nulls = _times('":', record), (_times(f'":{s}null', record) for s in ("", " "))
    apart = " OR ".join(f"contains({record}, {text(blank + ':')})" for blank in blanks)
    return (
        f"CASE WHEN {apart} THEN NULL WHEN contains({record}, 'null')"
        f" THEN {fields} - {' - '.join(nulls)} ELSE {fields} END"
    )


def _times(part: str, record: str) -> str:
    rest = f"octet_length(replace({record}, {text(part)}, ''))"
    return f"(octet_length({record}) - {rest}) DIV {len(part)}"


def values_of(columns: Sequence[Column], prefix: str = "") -> str:
    """Return how many values a row has.

    Args:
        columns: its columns.
        prefix: begins their names in the expression.
    """
    return " + ".join(f"int({prefix}{name(c.name)} IS NOT NULL)" for c in columns)


def observed_fields(values_in: int | None) -> Expression:
    """Return the aggregate of a pass over decoded rows that :func:`fields_of` reads.

    Args:
        values_in: ``Rows.values_in``.
    """
    if values_in is not None:
        return F.sum(VALUES)
    return F.expr(f"approx_top_k({UNKNOWN}, {_SETS}, {_SETS})")


def fields_of(
    observed: int | Sequence[Row] | None, values_in: int | None, unknown: Callable[[], DataFrame]
) -> Counter[str]:
    """Return how many records have each unknown field.

    Args:
        observed: what :func:`observed_fields` found.
        values_in: ``Rows.values_in``.
        unknown: ``Rows.unknown``, asked only where sums do not tell.
    """
    sets: Sequence[Row] = ()
    if values_in is None:
        assert not isinstance(observed, int)
        sets = observed or ()
    elif values_in != observed:
        sets = unknown().groupBy(UNKNOWN).count().orderBy(F.desc("count")).limit(_SETS).collect()
    found: Counter[str] = Counter()
    for names, records in sets:
        for field in json.loads(names) if names else ():
            found[_short(field)] += records
    return found


def _short(field: str) -> str:
    return field if len(field) <= _LONGEST_NAME else field[:_LONGEST_NAME] + OTHERS
