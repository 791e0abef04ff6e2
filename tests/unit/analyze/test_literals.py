"""The languages inside literals: what is read, how it is translated, where a mistake is."""

from __future__ import annotations

import re
from collections.abc import Callable

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.analyze.literals import (
    json_path,
    like,
    moment,
    regex,
    regex_engines,
    replacement,
    time_format,
)
from headwater.analyze.literals.mistake import Mistake
from tests.unit.analyze.small_project import view

READ = [
    (r"a", "a", "a"),
    (r"a$", r"a(?=\n?\z)", r"a\n?\z"),
    (r"^.\z", r"\A[^\n]\z", r"\A[^\n]\z"),
    (r"(?s).", r"[\x{0}-\x{10FFFF}]", r"[\x{0}-\x{10FFFF}]"),
    (r"(?m)^a$", r"(?dm:^)a(?dm:$)", r"(?m:^)a(?m:$)"),
    (r"\d\w\s", r"[0-9][0-9A-Z_a-z][\t-\r ]", r"[0-9][0-9A-Z_a-z][\t-\r ]"),
    (r"[^\d,]", r"[^\,0-9]", None),
    (r"[]a-]", r"[\-\]a]", None),
    (r"(?i)ab", "[Aa][Bb]", None),
    (r"(?i)k", "[Kk\u212a]", None),
    (r"(?i)lass", "[Ll][Aa](?:[Ssſ][Ssſ]|ß)", None),
    (r"(?i)s+s", "[Ssſ]+[Ssſ]", None),
    (r"(?i:a)b", "[Aa]b", None),
    (r"(?<year>\d{4})-(\d{1,2})", "([0-9]{4})-([0-9]{1,2})", None),
    (r"a{2,}?|b*?", "a{2,}?|b*?", None),
    (r"(?:ab)+", "(?:ab)+", None),
    (r"\x{1F600}é\u00e9", r"\x{1F600}éé", None),
    (r"a{|}", r"a\{|\}", None),
    (r"\$\.", r"\$\.", None),
    ("", "", None),
]


@pytest.mark.parametrize(("pattern", "java", "re2"), READ)
def test_a_pattern_is_written_for_each_engine(pattern: str, java: str, re2: str | None) -> None:
    tree = regex.parse(pattern)
    assert regex_engines.java(tree) == java
    assert regex_engines.re2_test(tree) == (re2 if re2 is not None else java)


def of_pattern(text: str) -> object:
    tree = regex.parse(text)
    regex_engines.check(tree)
    return tree


def replacing(text: str) -> object:
    pattern, _, new = text.partition(" => ")
    tree = regex.parse(pattern)
    regex_engines.check_replace(tree, replacement.parse(new, tree))
    return tree


def extracting(text: str) -> object:
    pattern, _, group = text.rpartition(" ")
    regex_engines.check_extract(regex.parse(pattern), int(group))
    return pattern


def escaping(text: str) -> object:
    pattern, escape = text.split(" ESCAPE ")
    like.check_escape(escape)
    like.check_pattern(pattern, escape)
    return pattern


def written_time(text: str) -> None:
    time_format.check(text, text, "date_format")


WRONG: list[tuple[Callable[[str], object], str, str, int]] = [
    (of_pattern, "(a", "INVALID_LITERAL", 0),
    (of_pattern, "ab)", "INVALID_LITERAL", 2),
    (of_pattern, "x[a", "INVALID_LITERAL", 1),
    (of_pattern, "a\\", "INVALID_LITERAL", 1),
    (of_pattern, "*a", "INVALID_LITERAL", 0),
    (of_pattern, "[b-a]", "INVALID_LITERAL", 1),
    (of_pattern, "a{3,2}", "INVALID_LITERAL", 1),
    (of_pattern, r"a\b", "NOT_PORTABLE", 1),
    (of_pattern, r"\p{L}", "NOT_PORTABLE", 0),
    (of_pattern, "[[:alpha:]]", "NOT_PORTABLE", 1),
    (of_pattern, "[a&&b]", "NOT_PORTABLE", 2),
    (of_pattern, "a(?=b)", "NOT_PORTABLE", 1),
    (of_pattern, "a(?i)b", "NOT_PORTABLE", 1),
    (of_pattern, r"(a)\1", "NOT_PORTABLE", 3),
    (of_pattern, "a++", "NOT_PORTABLE", 2),
    (of_pattern, "a**", "NOT_PORTABLE", 2),
    (of_pattern, "b(a*)*", "NOT_PORTABLE", 1),
    (of_pattern, "^*", "NOT_PORTABLE", 1),
    (of_pattern, "a{,2}", "NOT_PORTABLE", 1),
    (of_pattern, "a{1001}", "NOT_PORTABLE", 1),
    (of_pattern, "(a{100}){11}", "NOT_PORTABLE", 2),
    (of_pattern, "a$b", "NOT_PORTABLE", 1),
    (of_pattern, "1?$", "NOT_PORTABLE", 0),
    (of_pattern, "(?m)^", "NOT_PORTABLE", 4),
    (of_pattern, "(?i)[à-ɏ]", "NOT_PORTABLE", 5),
    (of_pattern, r"\Qa\E", "NOT_PORTABLE", 0),
    (of_pattern, r"\R", "NOT_PORTABLE", 0),
    (of_pattern, "(?x) a", "NOT_PORTABLE", 0),
    (replacing, "a => $", "INVALID_LITERAL", 0),
    (replacing, "a => b\\", "INVALID_LITERAL", 1),
    (replacing, "(a) => $2", "INVALID_LITERAL", 0),
    (replacing, "(?<n>a) => x${m}", "INVALID_LITERAL", 1),
    (replacing, "a* => x", "NOT_PORTABLE", 0),
    (replacing, "$ => x", "NOT_PORTABLE", 0),
    (replacing, r"\s|a$ => x", "NOT_PORTABLE", 4),
    (replacing, "(,|$) => x", "NOT_PORTABLE", 3),
    (extracting, "(a)?b 1", "NOT_PORTABLE", 0),
    (extracting, "a|(b) 1", "NOT_PORTABLE", 2),
    (extracting, "(a$) 1", "NOT_PORTABLE", 2),
    (escaping, "a!b ESCAPE !", "INVALID_LITERAL", 1),
    (escaping, "a! ESCAPE !", "INVALID_LITERAL", 1),
    (escaping, "a ESCAPE !!", "INVALID_LITERAL", 0),
    (escaping, "a ESCAPE ", "INVALID_LITERAL", 0),
    (escaping, "a ESCAPE 😀", "INVALID_LITERAL", 0),
    (json_path.parse, "a", "INVALID_LITERAL", 0),
    (json_path.parse, "", "INVALID_LITERAL", 0),
    (json_path.parse, "$..a", "INVALID_LITERAL", 2),
    (json_path.parse, "$.a[*]", "INVALID_LITERAL", 4),
    (json_path.parse, "$['a']", "INVALID_LITERAL", 2),
    (json_path.parse, "$.a[-1]", "INVALID_LITERAL", 4),
    (json_path.parse, "$.a.", "INVALID_LITERAL", 3),
    (json_path.parse, "strict $.a", "INVALID_LITERAL", 0),
    (json_path.parse, '$["a', "INVALID_LITERAL", 2),
    (json_path.parse, "$.a b", "INVALID_LITERAL", 3),
    (json_path.parse, '$["a?"]', "NOT_PORTABLE", 1),
    (written_time, "%Y %f", "NOT_PORTABLE", 3),
    (written_time, "", "INVALID_LITERAL", 0),
]


@pytest.mark.parametrize(("read", "text", "condition", "at"), WRONG)
def test_a_mistake_has_a_place_and_a_hint(
    read: Callable[[str], object], text: str, condition: str, at: int
) -> None:
    with pytest.raises(Mistake) as raised:
        read(text)
    assert (raised.value.condition, raised.value.at) == (condition, at)
    assert raised.value.hint


@pytest.mark.parametrize(
    ("pattern", "new", "java", "re2"),
    [
        ("(a)", "[$1]", "[$1]", r"[\1]"),
        ("(a)", "$12", r"$1\2", r"\12"),
        ("a", r"\$\\n", r"\$\\n", r"$\\n"),
        ("(?<n>a)", "${n}$0", "$1$0", r"\1\0"),
    ],
)
def test_a_replacement_is_written_for_each_engine(
    pattern: str, new: str, java: str, re2: str
) -> None:
    tree = regex.parse(pattern)
    parts = replacement.parse(new, tree)
    assert replacement.java(parts) == java
    assert replacement.re2(parts, regex_engines.re2_replace(tree, parts).numbers) == re2


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$", ()),
        ("$.a.b", ("a", "b")),
        ("$.a:b[0]", ("a:b", "0")),
        ('$["a b"].ä_1', ("a b", "ä_1")),
        ("$[a]", ("a",)),
        ('$[""]', ("",)),
    ],
)
def test_a_json_path_has_steps(path: str, steps: tuple[str, ...]) -> None:
    assert json_path.parse(path) == steps


def test_a_step_of_digits_is_an_element_and_a_key() -> None:
    assert set(json_path.readings(("a", "0"))) == {("a", 0), ("a", "0")}


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2024-2-9", "2024-02-09"),
        ("2024-2-9 1:02", "2024-02-09 01:02:00"),
        ("2024-02-09 01:02:03.5", "2024-02-09 01:02:03.5"),
        ("2024-02-09 01:02:03 +02:00", "2024-02-09 01:02:03+02:00"),
        ("2024-02-09 01:02:03-0230", "2024-02-09 01:02:03-02:30"),
        ("2024-02-09 01:02:03Z", "2024-02-09 01:02:03 UTC"),
        ("2024-02-09 UTC", "2024-02-09 00:00:00 UTC"),
    ],
)
def test_a_moment_is_written_as_every_engine_reads_it(text: str, written: str) -> None:
    assert moment.read(text, is_date=False) == written


@pytest.mark.parametrize(
    "text",
    ["now", "2024-02-30", "2024-02-09 24:00", "20240209", "2024-02-09 01:02:03 Europe/Berlin",
     "2024-02-09 01:02:03 +15:00", "2024-02-09 01:02:03.1234567", "2024-02-09 01:02:03 utc",
     "2024-02-09T01:02:03"],
)  # fmt: skip
def test_what_is_no_moment_everywhere_is_refused(text: str) -> None:
    with pytest.raises(Mistake):
        moment.read(text, is_date=False)


# -- random patterns and texts, against Python's own expressions

CHARS = "abkKs\n1-ä😀 "
TEXTS = st.lists(st.sampled_from(CHARS), max_size=6).map("".join)
ATOMS = st.sampled_from(
    ["a", "b", "k", "s", ".", r"\d", r"\w", r"\s", r"\S", "[ab]", "[^a]", r"[a-c\n]", "ä", "😀"]
)
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?"])


def _pieces(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    atoms = ATOMS | inner.map(lambda text: f"(?:{text})") | inner.map(lambda text: f"({text})")
    sequences = st.lists(st.tuples(atoms, REPEATS).map("".join), min_size=1, max_size=3)
    return st.lists(sequences.map("".join), min_size=1, max_size=2).map("|".join)


PATTERNS = st.tuples(
    st.sampled_from(["", "", "^"]),
    st.recursive(ATOMS, _pieces, max_leaves=6),
    st.sampled_from(["", "", "$", r"\z"]),
).map("".join)
DUCKDB = duckdb.connect()


@given(PATTERNS, TEXTS)
def test_patterns_match_what_they_match_elsewhere(pattern: str, text: str) -> None:
    try:
        tree = regex.parse(pattern)
        regex_engines.check(tree)
    except Mistake:
        return
    there = re.compile(re.sub(r"\\z$", r"\\Z", pattern), re.ASCII).search(text)
    found = DUCKDB.execute(
        "SELECT regexp_matches(?, ?)", [text, regex_engines.re2_test(tree)]
    ).fetchall()
    assert found == [(there is not None,)]


LIKES = st.lists(st.sampled_from("ab%_!\\\n😀"), max_size=5).map("".join)


@given(LIKES, TEXTS, st.sampled_from(["", "!", "\\"]))
def test_like_is_what_its_parts_say(pattern: str, text: str, escape: str) -> None:
    try:
        like.check_pattern(pattern, escape)
    except Mistake:
        return
    parts = re.findall(rf"{re.escape(escape)}.|." if escape else ".", pattern, re.DOTALL)
    wanted = "".join({"%": ".*", "_": "."}.get(part, re.escape(part[-1])) for part in parts)
    clause = "ESCAPE ?" if escape else ""
    found = DUCKDB.execute(
        f"SELECT ? LIKE ? {clause}", [text, pattern, *([escape] if escape else [])]
    ).fetchall()
    assert found == [(re.fullmatch(wanted, text, re.DOTALL) is not None,)]


def test_what_check_accepts_is_translated() -> None:
    query = view("SELECT regexp_like(origin, '(?i)x$') AS x FROM departures d").query
    assert query.selects[0].this.expression.name == "(?i)x$"  # as written
