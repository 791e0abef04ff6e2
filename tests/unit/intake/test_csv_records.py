"""Records of CSV: what is written by the rules is cut as it was written, whatever stands in it."""

from __future__ import annotations

import csv
import io
import random
import re
from dataclasses import replace

import pytest

from headwater.analyze.definitions import Source
from headwater.formats.csv_records import pattern, record, values

SOURCE = Source("t", True, (), "files", encode="csv")
LONG = '"' + "x" * 100_000 + '""' * 100_000 + '"'
ALPHABET = ["a", "é", "\U0001f600", ",", ";", '"', '""', "\n", "\r", "\r\n", "\\", " ", "", "\t"]


def cut(source, content):
    expression, found, at = re.compile(pattern(source)), [], 0
    while at < len(content):
        match = expression.match(content, at)
        assert match
        found.append(match[1])
        at = match.end()
    return found


@pytest.mark.parametrize("seed", range(50))
def test_what_was_written_by_the_rules_is_cut_into_its_records(seed):
    chance = random.Random(seed)
    delimiter, end = chance.choice([",", ";", "\t", "|"]), chance.choice(["\n", "\r\n", "\r"])
    source = replace(SOURCE, encode_options={"delimiter": delimiter})
    rows = [
        ["".join(chance.choices(ALPHABET, k=chance.randrange(6))) for _ in range(3)]
        for _ in range(20)
    ]
    written = []
    for row in rows:
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter).writerow(row)
        written.append(text.getvalue().removesuffix("\r\n"))
    assert cut(source, end.join(written) + chance.choice(["", end])) == written
    assert all(re.fullmatch(record(source), each) for each in written)
    assert [list(values(source, each)) for each in written] == rows


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ("", []),
        ("\n\na\n", ["", "", "a"]),
        ('1,"half\n2,x\n', ['1,"half', "2,x"]),
        ('1,"half\n2,"x"\n3\n', ['1,"half', '2,"x"', "3"]),
        ('a 5" b\n"x"y\n"z"\n', ['a 5" b', '"x"y', '"z"']),
        (LONG + "\ny", [LONG, "y"]),
        ("a," * 100_000 + "\ny", ["a," * 100_000, "y"]),
    ],
)  # fmt: skip
def test_what_is_no_record_ends_with_its_line_and_spoils_no_other(content, records):
    assert cut(SOURCE, content) == records


def test_an_escape_hides_a_quote_and_itself():
    source = replace(SOURCE, encode_options={"escape": "\\"})
    content = '1,"a 5\\" pipe"\n2,"x\\\\"\n3,"\\\n"\n4,y\\\n'
    assert values(source, '1,"a 5\\" pipe\\\\",') == ("1", 'a 5" pipe\\', "")
    assert cut(source, content) == ['1,"a 5\\" pipe"', '2,"x\\\\"', '3,"\\\n"', "4,y\\"]
