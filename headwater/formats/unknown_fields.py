"""Fields of records that the definition does not name: left out, but counted by name.

In: the definition, and records: JSON text, or the names that a file has for all its records. Out:
the column ``_unknown`` of every decoding (:mod:`headwater.formats.columns`): JSON text of an array
of names, NULL for a record without unknown fields; and the counts of an epoch, by name.

A field counts where it has a value: one that is null says nothing. Of a change event the fields
of the row count. Fields inside a value are the column's own business, and are not looked at.

Listing the keys of a record costs more than parsing it. So a count comes first: a JSON text has at
least as many ``":`` as fields, and the row made of it at most as many values as fields. Where both
numbers are the same, every field has its column. That is asked of each record whose columns are not
nested. Flat lines (``headwater.formats.flat_json``)
have their text in one pass and their values in another; there the sums over all lines are compared:
no line has more values than ``":``, so equal sums are equal in each line.

Mostly all records of an input have the same fields. Those that an epoch has found are expected of
the next: they are read beside the columns, so that the count takes them in, and which of them a
record has costs next to nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from pyspark.sql import Column as Expression
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.analyze.definitions import Column
from headwater.lake.protocol.unknown_field_counts import OTHERS
from headwater.plan.sql.spark_text import name, text

UNKNOWN, VALUES, NAMED = "_unknown", "_values", "_named"
"""Columns of a decoding: the unknown fields of a record, how many values its row has with them, and
those of the expected fields that it has."""
NONE = "CAST(NULL AS STRING)"
_LONGEST_NAME, _MOST_OF_ONE = 64, 100
"""Of a name, and of the unknown fields of one record, as far as they are looked at."""
_MOST_EXPECTED = 50
_SETS = 10_000
"""Different sets of unknown fields that a pass over an epoch counts exactly, about."""


def of_names(names: Iterable[str], known: Collection[str]) -> str:
    """Return ``_unknown`` of records that all have the same fields.

    Args:
        known: those that the definition names.
    """
    unknown = sorted(set(names).difference(known))
    return text(json.dumps(unknown, ensure_ascii=False)) if unknown else NONE


def of_json(
    document: str, known: Collection[str], expected: Collection[str] = (), broken: str = "false"
) -> str:
    """Return ``_unknown`` of a JSON object, an empty array if all unknown fields are null.

    Args:
        document: expression of its text.
        known: the fields that the definition names.
        expected: others, of which ``_named`` tells which ones it has.
        broken: the condition that ``_named`` does not tell, since the object could not be read.
    """
    lower = [each.lower() for each in known]
    listed, own, read = (
        ", ".join(map(text, names)) for names in (lower, known, (*known, *expected))
    )
    told = f"IF({broken}, array({own}), array({read}))"
    fields = f"from_json({document}, 'MAP<STRING, STRING>')"
    valued = f"map_filter({fields}, (k, v) -> v IS NOT NULL AND lower(k) NOT IN ({listed}))"
    return (
        f"CASE WHEN size(array_except(json_object_keys({document}), {told})) > 0"
        f" THEN to_json(transform(slice(array_sort(map_keys({valued})), 1, {_MOST_OF_ONE}),"
        f" k -> left(k, {_LONGEST_NAME + 1}))) ELSE {NAMED} END"
    )


def expected(before: Iterable[str], found: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    """Return the unknown fields that the next records are expected to have.

    Args:
        before: those that were expected so far.
        found: those that records had.
        known: the fields that the definition names.

    Returns:
        The names, at most some; none that could be taken for another, or for a column of ours.
    """
    taken = {each.lower() for each in known}
    names: list[str] = []
    for each in dict.fromkeys((*before, *found)):
        plain = json.dumps(each, ensure_ascii=False) == f'"{each}"' and each.isprintable()
        other = each.startswith("_") or len(each) > _LONGEST_NAME
        if plain and not other and each.lower() not in taken:
            taken.add(each.lower())
            names.append(each)
    return tuple(names[:_MOST_EXPECTED])


def named(fields: Iterable[str], prefix: str = "") -> str:
    """Return ``_named``, in the form of ``_unknown``.

    Args:
        fields: the expected ones.
        prefix: begins their names in the expression.
    """
    listed = sorted(fields, key=str.encode)
    if not listed:
        return NONE
    has = [f"{prefix}{name(field)} IS NOT NULL" for field in listed]
    each = (f"IF({one}, {text(field)}, NULL)" for one, field in zip(has, listed, strict=True))
    joined = f"""concat_ws('","', {", ".join(each)})"""
    return f"""CASE WHEN {" OR ".join(has)} THEN concat('["', {joined}, '"]') END"""


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
    """Return how many values a row has, under the names of its fields.

    Args:
        prefix: begins their names in the expression.
    """
    return " + ".join(f"int({prefix}{name(c.key)} IS NOT NULL)" for c in columns)


def observed_fields() -> Expression:
    """Return the aggregate of a pass over decoded rows that :func:`fields_of` reads."""
    sets = F.expr(f"approx_top_k({UNKNOWN}, {_SETS}, {_SETS})")
    return F.struct(F.sum(VALUES).alias("values"), sets.alias("sets"))


def fields_of(
    observed: Row, values_in: int | None, unknown: Callable[[], DataFrame]
) -> Counter[str]:
    """Return how many records have each unknown field.

    Args:
        observed: what :func:`observed_fields` found.
        values_in: ``Rows.values_in``.
        unknown: ``Rows.unknown``, asked only where sums do not tell.
    """
    sets: Sequence[Row] = observed["sets"] or ()
    if values_in is not None and values_in != (observed["values"] or 0):
        sets = unknown().groupBy(UNKNOWN).count().orderBy(F.desc("count")).limit(_SETS).collect()
    found: Counter[str] = Counter()
    for names, records in sets:
        for field in json.loads(names) if names else ():
            found[_short(field)] += records
    return found


def _short(field: str) -> str:
    return field if len(field) <= _LONGEST_NAME else field[:_LONGEST_NAME] + OTHERS
