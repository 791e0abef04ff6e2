"""Bad SQL and exactly what a person reads about it: tests/golden/errors/check/*.txt.

A file holds cases separated by ``---``; a case is a line ``# title``, the SQL and, after ``>>>``,
the text of the error. ``HEADWATER_REWRITE_GOLDEN=1`` writes the texts anew; read the diff.
"""

import os
from pathlib import Path

import pytest

from headwater.analyze.project import bind
from headwater.dialect import parse
from headwater.errors import HeadwaterError

FOLDER = Path(__file__).parents[2] / "golden" / "errors" / "check"
REWRITE = os.environ.get("HEADWATER_REWRITE_GOLDEN") == "1"
PRELUDE = """
CREATE TABLE departures (
  flight VARCHAR NOT NULL, origin VARCHAR, dest VARCHAR, distance BIGINT, dep_delay DOUBLE,
  price DECIMAL(10, 2), ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (connector = 'files', path = 'departures') FORMAT PLAIN ENCODE JSON;
CREATE TABLE landings (
  flight VARCHAR NOT NULL, arr_delay DOUBLE, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (connector = 'files', path = 'landings') FORMAT PLAIN ENCODE JSON;
CREATE TABLE airports (code VARCHAR NOT NULL, city VARCHAR, opened TIMESTAMP)
WITH (connector = 'files', path = 'airports') FORMAT PLAIN ENCODE CSV;
CREATE SOURCE clicks (page VARCHAR, at TIMESTAMP) WITH (connector = 'datagen');
"""


def check(sql: str) -> str:
    files = {}
    try:
        files["prelude.sql"] = parse(PRELUDE, file="prelude.sql")
        files["case.sql"] = parse(sql, file="case.sql")
        bind(files)
    except HeadwaterError as error:
        return error.render()
    return "no error"


def cases(file: Path) -> list[tuple[str, str, str]]:
    found = []
    for block in file.read_text(encoding="utf-8").split("\n---\n"):
        head, _, expected = block.strip("\n").partition("\n>>>\n")
        title, _, sql = head.partition("\n")
        found.append((title.removeprefix("# "), sql, expected))
    return found


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_errors_read_as_written_down(file: Path) -> None:
    found = cases(file)
    actual = [(title, sql, check(sql)) for title, sql, _ in found]
    if REWRITE:
        blocks = [f"# {title}\n{sql}\n>>>\n{text}" for title, sql, text in actual]
        file.write_text("\n---\n".join(blocks) + "\n", encoding="utf-8")
    else:
        assert actual == found


def test_every_case_is_refused_and_the_corpus_is_large() -> None:
    found = [case for file in FOLDER.glob("*.txt") for case in cases(file)]
    assert len(found) >= 120
    assert [title for title, _, text in found if text == "no error"] == []
    titles = [title for title, _, _ in found]
    assert len(set(titles)) >= len(titles) - 5
