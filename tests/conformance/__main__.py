"""``make conformance``: asks Trino every form, records its answers, and says what differs.

``record`` asks Trino, which it starts unless an address is given; with ``--missing`` only the forms
that have no answer over today's rows. ``check`` compares DuckDB and Spark with the record.
``settle`` writes what differs into ``differences.jsonl``: read the diff.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from headwater.config.settings import load_config
from headwater.runtime.session import open_session
from headwater.servers.trino import TrinoServer
from tests.conformance import expected, record
from tests.conformance.engines import DuckDB
from tests.conformance.forms import FORMS, Form
from tests.conformance.judge import Difference, differences
from tests.conformance.spark_answers import SparkSide
from tests.conformance.trino_answers import ask
from tests.conformance.values import digest

Found = dict[str, list[Difference]]
"""Differences by where they are."""


def main() -> int:
    """Return 0 if all is as expected."""
    parser = ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    commands = parser.add_subparsers(required=True)
    recording = commands.add_parser("record")
    recording.add_argument("--missing", action="store_true")
    recording.add_argument("--address")
    recording.set_defaults(run=_record)
    commands.add_parser("check").set_defaults(run=_check)
    commands.add_parser("settle").set_defaults(run=_settle)
    asked = parser.parse_args()
    return int(asked.run(asked))


def _record(asked: Namespace) -> int:
    known = record.read() if asked.missing and record.FILE.exists() else {}
    known = {
        form.text: known[form.text]
        for form in FORMS
        if form.text in known and known[form.text].rows == digest(form.columns)
    }
    missing = [form for form in FORMS if form.text not in known]
    if asked.address:
        found = _answers(missing, asked.address)
    elif missing:
        with TemporaryDirectory() as folder, TrinoServer(Path(folder), {}) as server:
            found = _answers(missing, server.address)
    else:
        found = {}
    record.write((known | found)[form.text] for form in FORMS)
    sys.stdout.write(f"recorded {len(found)} of {len(FORMS)} forms\n")
    return 0


def _answers(forms: Sequence[Form], address: str) -> dict[str, record.Recorded]:
    found = {}
    for each in ask(forms, address):
        found[each.form] = each
        if len(found) % 100 == 0:
            sys.stdout.write(f"{len(found)} of {len(forms)}\n")
            sys.stdout.flush()
    return found


def _check(asked: Namespace) -> int:
    surprises = [
        words
        for form, found in _all_differences()
        for where, each in found.items()
        if (words := expected.surprise(form, where, each))
    ]
    sys.stdout.write("".join(f"{words}\n" for words in surprises))
    sys.stdout.write(f"{len(surprises)} surprises in {len(FORMS)} forms\n")
    return 1 if surprises else 0


def _settle(asked: Namespace) -> int:
    listed = []
    for form, found in _all_differences():
        if (verdict := expected.verdict_of(form, found)) is not None:
            where = tuple(name for name, each in found.items() if each)
            listed.append(expected.Listed(form.text, verdict, where))
            if verdict == "wrong":
                words = "; ".join(each[0].text for each in found.values() if each)
                sys.stdout.write(f"{form.text}: {where}: {words}\n")
    expected.write(listed)
    return 0


def _all_differences() -> Iterator[tuple[Form, Found]]:
    answers, duck = record.read(), DuckDB()
    with TemporaryDirectory() as folder:
        (Path(folder) / "headwater.toml").write_text('name = "conformance"\n', encoding="utf-8")
        session = open_session(load_config(Path(folder)))
        try:
            spark = SparkSide(session)
            spark.ask(FORMS)
        finally:
            session.stop()
    for form in FORMS:
        yield form, differences(form, answers[form.text], duckdb=duck.answer, spark=spark.answer)


if __name__ == "__main__":
    sys.exit(main())
