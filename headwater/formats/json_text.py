"""The text of JSON records, made fit for Spark's parser, and texts made of it as they were written.

In: expressions of records and the declared columns. Out: Spark SQL.

Spark 4.1.3 has two faults here. Its parser finds keys by their exact case (apache/spark#20894).
And ``from_json`` writes a number anew where text is wanted: ``12.10`` becomes ``12.1``, ``-0``
becomes ``0``, and so do those within an object; the reader of files keeps bytes as they are.

So a record with a key that is a name of the definition in another case is rewritten before it is
parsed: ``"Id":1`` becomes ``"<mark>Id":null,"id":1``. The parser skips the first of the two, and a
text or a map that holds it is given its own key back. A record with a number that may be a text is
parsed a second time, with all its numbers as marked texts. Both are seldom asked for: two scans
tell, one of the record and one of the texts made of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from headwater.analyze.definitions import Column
from headwater.analyze.typing.types import elements
from headwater.plan.sql.spark_text import name, text

_KEY, _BACKSLASH, _QUOTE, _NUMBER = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
"""Marks: noncharacters, which Unicode reserves for the inside of programs."""
_Type = exp.DataType.Type
_BLANKS = text(" \t\r\n")
_SPACE = r"[ \t\r\n]*+"
_WORD = re.compile("[a-z0-9_]+")
_CAPITAL_KEY = f'"[a-z0-9_]*+[A-Z][A-Za-z0-9_]*+"{_SPACE}:'
QUOTED = r'"(?:[^"\\]++|\\.)*+"'
"""A text of JSON, as a pattern."""
_NUMBERS = rf'(?s)\G((?:[^"0-9-]++|{QUOTED})*+)(-?[0-9][0-9.eE+-]*+)'
_ADDED_KEY = rf'"{_KEY}((?:[^"\\]++|\\.)*+)":null,{QUOTED}:'
_OWN_KEY = '"$1":'
_MARKED, _BARE = f'"{_NUMBER}([^"]*+)"', f'$1"{_NUMBER}$2"'
_REWRITTEN = r'^-?[0-9]+[.][0-9]+(?:E-?[0-9]+)?$|^"-?Infinity"$|^[\[{]'
_FRACTION = rf"[:\[,]{_SPACE}-?[0-9]++[.eE]"
_MINUS_ZERO = rf"[:\[,]{_SPACE}-0"
MAX_LEVELS = 998
"""How deep a record may be: Spark's parser takes 1,000 levels, two of them around the record."""
_COUNTED_BRACKETS, _NO_BRACKETS = 100_000, r"[^\[\]{}]++"


def names_of(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of the fields of columns, and of those of rows within them."""
    return tuple(dict.fromkeys(each for c in columns for each in (c.key, *_fields(c.type))))


def _escaped(field: str) -> str:
    """A name as it stands between quotes in JSON."""
    return json.dumps(field, ensure_ascii=False)[1:-1]


def _spellings(field: str) -> Iterator[str]:
    """The same, in the cases whose letters that are not ASCII may be escaped."""
    yield _escaped(field)
    if not field.isascii():
        for each in (field, field.lower(), field.upper(), field.title()):
            if each.lower() == field.lower():
                yield json.dumps(each)[1:-1]


def _bare(escaped: str) -> str:
    """A name in JSON as :func:`in_lower_case` sees it."""
    return escaped.replace("\\\\", _BACKSLASH).replace('\\"', _QUOTE)


def _fields(kind: exp.DataType) -> Iterator[str]:
    if kind.this is _Type.STRUCT:
        yield from (field.name for field in kind.expressions)
    if kind.this in (_Type.STRUCT, _Type.ARRAY, _Type.MAP):
        for inner in elements(kind):
            yield from _fields(inner)


def has_other_case(record: str, columns: Sequence[Column]) -> str:
    """Return the condition that a record has a key that is a name but for its case.

    Args:
        record: expression of its text.
    """
    names = names_of(columns)
    own = (dict.fromkeys((_escaped(each), json.dumps(each)[1:-1])) for each in names)
    exact = "|".join(re.escape(each) for both in own for each in both)
    spelled = "|".join(re.escape(each) for field in names for each in _spellings(field))
    words = all(map(_WORD.fullmatch, names))
    key = f'"(?!(?:{exact})")(?{"i" if words else "iu"}:{spelled})"{_SPACE}:'
    capital = f"{record} RLIKE {text(_CAPITAL_KEY)} AND " if words else ""
    return f"({capital}{record} RLIKE {text(key)})"


def in_lower_case(record: str, columns: Sequence[Column]) -> str:
    """Return a record in which such keys are names, each behind a mark of what it was.

    Where a record has the field that FROM names, spelled so, a key in another case is another one.

    Args:
        record: expression of its text.
    """
    spelled = {
        field: {_bare(each).lower(): _bare(_escaped(field)) for each in _spellings(field)}
        for field in names_of(columns)
    }
    owns = {each: own for known in spelled.values() for each, own in known.items()}
    backslash, quote = text("\\\\"), text('\\"')
    bare = f"replace(replace({record}, {backslash}, '{_BACKSLASH}'), {quote}, '{_QUOTE}')"
    names, own = ", ".join(map(text, owns)), "lower(p)"
    if any(each != field for each, field in owns.items()):
        own = f"element_at(map({', '.join(text(e) for pair in owns.items() for e in pair)}), {own})"
    is_key = f"(i % 2 = 1 AND lower(p) IN ({names}) AND p <> {own})"
    for field in (column.read_from for column in columns if column.read_from):
        there = f"coalesce(array_contains(json_object_keys({record}), {text(field)}), false)"
        is_key += f" AND NOT (lower(p) IN ({', '.join(map(text, spelled[field]))}) AND {there})"
    before_colon = f"startswith(ltrim({_BLANKS}, coalesce(get(a, i + 1), '')), ':')"
    renamed = f"""concat('{_KEY}', p, '":null,"', {own})"""
    parts = f"transform(a, (p, i) -> IF({is_key} AND {before_colon}, {renamed}, p))"
    # a lambda gives the list of parts its name
    split = f"""array(split({bare}, '"'))"""
    joined = f"""get(transform({split}, a -> array_join({parts}, '"')), 0)"""
    plain = f"replace(replace({joined}, '{_QUOTE}', {quote}), '{_BACKSLASH}', {backslash})"
    return f"CASE WHEN {has_other_case(record, columns)} THEN {plain} ELSE {record} END"


def is_renamed(record: str) -> str:
    """Return the condition that a record was rewritten by :func:`in_lower_case`."""
    return f"contains({record}, '{_KEY}')"


def may_have_both(line: str, columns: Sequence[Column]) -> str:
    """Return the condition that a rewritten record may have a name in two cases, found quickly.

    Args:
        line: expression of what :func:`in_lower_case` made of it.
    """
    quoted = ", ".join(text(f'"{_escaped(each)}"') for each in names_of(columns))
    rest = f"octet_length(replace({line}, n, ''))"
    twice = f"octet_length({line}) - {rest} >= 2 * octet_length(n)"
    return f"{is_renamed(line)} AND exists(array({quoted}), n -> {twice})"


def shown(value: str) -> str:
    """Return a JSON text with the keys that it had.

    Args:
        value: expression of the text.
    """
    return f"regexp_replace({value}, {text(_ADDED_KEY)}, {text(_OWN_KEY)})"


def same_but_for_case(record: str, columns: Sequence[Column], depth: int = 0) -> str:
    """Return the condition that an object of a record has a name in two cases.

    Objects that are read as text or as maps may: their keys are data.

    Args:
        record: expression of the object's text.
        columns: what is read of it.
        depth: level of nesting.
    """
    fields, entry, key = f"f{depth}", f"e{depth}", f"k{depth}"
    names = ", ".join(text(column.key.lower()) for column in columns)
    alike = f"lower({key}) IN ({names})"
    for own in (column.read_from for column in columns if column.read_from):
        other = f"lower({key}) = {text(own.lower())} AND {key} <> {text(own)}"
        alike += f" AND NOT ({other} AND array_contains(map_keys({fields}), {text(own)}))"
    keys = f"array_distinct(filter(map_keys({fields}), {key} -> {alike}))"
    folded = f"array_distinct(transform({keys}, {key} -> lower({key})))"
    conditions = [f"size({folded}) < size({keys})"]
    for column in columns:
        inner = _within(f"{entry}.value", column.type, depth + 1)
        if inner:
            found = f"lower({entry}.key) = {text(column.key.lower())} AND coalesce({inner}, false)"
            conditions.append(f"exists(map_entries({fields}), {entry} -> {found})")
    parsed = f"from_json({record}, 'MAP<STRING, STRING>')"
    return f"exists(array({parsed}), {fields} -> {' OR '.join(conditions)})"


def _within(value: str, kind: exp.DataType, depth: int) -> str:
    """The same of the objects within a value; '' where there are none."""
    if kind.this is _Type.STRUCT:
        parts = zip(kind.expressions, elements(kind), strict=True)
        return same_but_for_case(value, [Column(part.name, of) for part, of in parts], depth)
    if kind.this not in (_Type.ARRAY, _Type.MAP):
        return ""
    item = f"x{depth}"
    inner = _within(item, elements(kind)[-1], depth + 1)
    if not inner:
        return ""
    items = f"from_json({value}, 'ARRAY<STRING>')"
    if kind.this is _Type.MAP:
        items = f"map_values(from_json({value}, 'MAP<STRING, STRING>'))"
    return f"exists({items}, {item} -> coalesce({inner}, false))"


def holds_text(kind: exp.DataType) -> bool:
    """Whether a value of a type is or has a text or a key of a map."""
    return any(part.this in (_Type.VARCHAR, _Type.MAP) for part in kind.find_all(exp.DataType))


def as_texts(kind: exp.DataType) -> str:
    """Return the Spark type of a value with all its scalars as text."""
    if kind.this is _Type.STRUCT:
        parts = zip(kind.expressions, elements(kind), strict=True)
        return f"STRUCT<{', '.join(f'{name(part.name)}: {as_texts(of)}' for part, of in parts)}>"
    if kind.this is _Type.ARRAY:
        return f"ARRAY<{as_texts(elements(kind)[0])}>"
    if kind.this is _Type.MAP:
        return f"MAP<STRING, {as_texts(elements(kind)[1])}>"
    return "STRING"


def may_differ(line: str, prefix: str, columns: Sequence[Column]) -> str:
    """Return the condition that a text of a parsed record is not as it was written.

    Args:
        line: expression of what was parsed.
        prefix: stands before the names of the parsed columns.
    """
    texts = [c for c in columns if c.type.this is _Type.VARCHAR]
    conditions = [
        is_renamed(line),
        f"contains({line}, '-0') AND {line} RLIKE {text(_MINUS_ZERO)}",
    ]
    for value in (f"{prefix}{name(c.key)}" for c in texts):
        has_one = f"(contains({value}, '.') OR contains({value}, 'Infinity'))"
        conditions.append(f"{has_one} AND {value} RLIKE {text(_REWRITTEN)}")
    if any(holds_text(c.type) for c in columns if c not in texts):
        conditions.append(f"{line} RLIKE {text(_FRACTION)}")
    return " OR ".join(f"coalesce({each}, false)" for each in conditions)


def is_deep(record: str) -> str:
    """Return the condition that a record has more than :data:`MAX_LEVELS` levels.

    Args:
        record: expression of its text.
    """
    opening = f"length({record}) - length(translate({record}, '[{{', ''))"
    # a text that nobody ends hides its brackets, too: the record is not valid anyway
    bare = f"regexp_replace({record}, {text(QUOTED + '?')}, '')"
    brackets = f"regexp_replace({bare}, {text(_NO_BRACKETS)}, '')"
    deeper = "s.d + IF(c IN ('[', '{'), 1, -1)"
    deepest = (
        f"aggregate(split(left({brackets}, {_COUNTED_BRACKETS}), ''), struct(0 AS d, 0 AS m),"
        f" (s, c) -> struct({deeper} AS d, greatest(s.m, {deeper}) AS m), s -> s.m)"
    )
    return f"CASE WHEN {opening} > {MAX_LEVELS} THEN {deepest} > {MAX_LEVELS} ELSE false END"


def with_numbers_as_texts(line: str) -> str:
    """Return a JSON text with each of its numbers as a text behind a mark."""
    return f"regexp_replace({line}, {text(_NUMBERS)}, {text(_BARE)})"


def as_written(typed: str, marked: str, kind: exp.DataType, depth: int = 0) -> str:
    """Return a value whose texts are as they were written.

    Args:
        typed: expression of what the parser made of the record.
        marked: the same of the record with numbers as texts.
        kind: its type.
        depth: level of nesting.
    """
    if kind.this is _Type.VARCHAR:
        bare = f"regexp_replace({marked}, {text(_MARKED)}, '$1')"
        has_marks = f"contains({marked}, '{_NUMBER}') OR contains({marked}, '{_KEY}')"
        return (
            f"CASE WHEN startswith({marked}, '{_NUMBER}') THEN substr({marked}, 2)"
            f" WHEN {has_marks} THEN {shown(bare)} ELSE {marked} END"
        )
    if not holds_text(kind):
        return typed
    t, m = f"t{depth}", f"m{depth}"
    if kind.this is _Type.ARRAY:
        item = as_written(t, m, elements(kind)[0], depth + 1)
        return f"zip_with({typed}, {marked}, ({t}, {m}) -> {item})"
    if kind.this is _Type.STRUCT:
        parts = zip(kind.expressions, elements(kind), strict=True)
        items = (
            f"{text(part.name)}, "
            + as_written(f"{typed}.{name(part.name)}", f"{marked}.{name(part.name)}", of, depth)
            for part, of in parts
        )
        return f"CASE WHEN {typed} IS NOT NULL THEN named_struct({', '.join(items)}) END"
    return _map_as_written(typed, marked, kind, depth)


def _map_as_written(typed: str, marked: str, kind: exp.DataType, depth: int) -> str:
    """The same of a map, without the keys that were added; of a key twice, the last value."""
    a, i, of_keys, of_values = f"a{depth}", f"i{depth}", *elements(kind)
    key = f"get(map_keys({typed}), {i})"
    if of_keys.this is _Type.VARCHAR:
        before = f"coalesce(get(map_keys({typed}), {i} - 1), '')"
        own = f"IF(startswith({before}, '{_KEY}'), substr({before}, 2), {key})"
        key = f"IF(startswith({key}, '{_KEY}'), NULL, {own})"
    numbers = f"sequence(0, size({typed}) - 1)"
    later = f"coalesce(array_contains(slice({a}, {i} + 2, size({a})), get({a}, {i})), false)"
    last = f"filter({numbers}, {i} -> get({a}, {i}) IS NOT NULL AND NOT {later})"
    of_typed, of_marked = (f"get(map_values({each}), {i})" for each in (typed, marked))
    value = as_written(of_typed, of_marked, of_values, depth + 1)
    made = (
        f"map_from_arrays(transform({last}, {i} -> get({a}, {i})),"
        f" transform({last}, {i} -> {value}))"
    )
    keys = f"array(transform({numbers}, {i} -> {key}))"
    return (
        f"CASE WHEN size({typed}) > 0 THEN get(transform({keys}, {a} -> {made}), 0)"
        f" ELSE {typed} END"
    )
