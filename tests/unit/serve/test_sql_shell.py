"""``headwater sql`` as a person at a terminal has it, and a program that pipes statements."""

from __future__ import annotations

import _thread
import io
import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fake_lake import CLICKS, FakeLake

import headwater
from headwater.cli.main import main
from headwater.cli.output import JsonOutput
from headwater.cli.shell.completion import Words
from headwater.cli.shell.statements import QueryEngine, run_statement
from headwater.dialect.splitter import cut
from headwater.serve.connection import duckdb_connection, rows_of
from headwater.serve.embedded import Result
from tests.support.terminal import Terminal

ENVIRON = os.environ | {
    "PYTHONPATH": os.pathsep.join(
        [str(Path(headwater.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
}
PROMPT, MORE = "sql>", "...>"


@pytest.fixture
def project(lake: FakeLake, tmp_path: Path) -> Path:
    lake.create("clicks", CLICKS)
    lake.append("clicks", [{"user_id": n, "score": n / 2} for n in range(3)])
    return tmp_path


@contextmanager
def shell(folder: Path, *options: str, columns: int = 120) -> Iterator[Terminal]:
    environ = ENVIRON | {"XDG_STATE_HOME": str(folder / "state")}
    command = [sys.executable, "-m", "headwater.cli.main", "sql", *options]
    with Terminal(command, folder, environ, columns) as terminal:
        terminal.see(PROMPT)
        yield terminal


def test_a_statement_has_several_lines_and_an_error_ends_only_itself(project: Path) -> None:
    with shell(project) as terminal:
        terminal.type("SELECT count(*)\r")
        terminal.see(MORE)
        terminal.type("FROM clicks;\r")
        terminal.see("_col0")
        terminal.see("(1 row,")
        terminal.see(PROMPT)
        terminal.type("SELECT cuont(*) FROM clicks;\r")
        terminal.see("did you mean count?")
        terminal.see(PROMPT)
        terminal.type("SELECT user_id FROM clicks ORDER BY 1; SELECT 7 AS seven;\r")
        terminal.see("(3 rows,")
        terminal.see("seven")
        terminal.see(PROMPT)
        terminal.type("\x04")
        assert terminal.ends() == 0


def test_tab_completes_and_the_history_outlives_the_shell(project: Path) -> None:
    with shell(project) as terminal:
        terminal.type("desc cli\t;\r")
        assert "timestamp(6) with time zone" in terminal.see("(3 rows,")
        terminal.see(PROMPT)
        terminal.type("\x04")
        assert terminal.ends() == 0
    with shell(project) as terminal:
        terminal.type("\x1b[A")
        terminal.see("desc clicks;")
        terminal.type("\r")
        terminal.see("(3 rows,")


def test_ctrl_c_ends_a_query_or_drops_a_text_and_not_the_shell(project: Path) -> None:
    endless = "SELECT count(*) FROM range(1000000000) AS a, range(1000000000) AS b"
    with shell(project) as terminal:
        terminal.type("SELECT 1 AS dropped")
        terminal.see("dropped")
        terminal.type("\x03")
        terminal.see(PROMPT)
        terminal.type(f"{endless};\r")
        terminal.see("AS b;")
        terminal.interrupt()
        terminal.see(PROMPT)
        terminal.type("SELECT 5 AS goes_on;\r")
        terminal.see("(1 row,")
        terminal.see(PROMPT)
        terminal.type("quit\r")
        assert terminal.ends() == 0


@pytest.mark.parametrize("columns", [80, 120])
def test_help_and_tables_fit_the_screen(project: Path, columns: int) -> None:
    with shell(project, columns=columns) as terminal:
        for command in ("help\r", "SHOW TABLES;\r", "\\d\r", "SHOW FUNCTIONS LIKE 'regexp%';\r"):
            terminal.type(command)
            terminal.see(PROMPT)
        assert max(map(len, terminal.shown.splitlines())) <= columns


def test_json_holds_in_the_shell(project: Path) -> None:
    with shell(project, "--output", "json") as terminal:
        terminal.type("SELECT user_id FROM clicks ORDER BY 1 LIMIT 1;\r")
        terminal.see('{"user_id": 0}')


def test_statements_of_a_pipe_are_run_in_order_and_the_first_error_is_the_exit_code(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "-- ';'\nSELECT 'a;b' AS x;\n\nSELECT *\nFROM clikcs; SHOW VIEWS;\nSELECT 2 AS last"
    monkeypatch.chdir(project)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    assert main(["sql", "--output", "csv"]) == 2
    out, err = capsys.readouterr()
    assert out.startswith("x\na;b\nView,Comment\n") and out.endswith("last\n2\n")
    assert "did you mean clicks?" in err
    monkeypatch.setattr(sys, "stdin", io.StringIO("  \n"))
    assert main(["sql"]) == 0


def test_a_place_is_that_of_the_whole_text(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert main(["sql", "SELECT 1 AS one;\n  SELECT usr FROM clicks"]) == 2
    assert "<sql>:2:10 UNKNOWN_COLUMN" in capsys.readouterr().err


def test_statements_are_cut_at_semicolons_outside_of_texts() -> None:
    assert cut("a ';' b; c\n;;d") == (["a ';' b", "         c"], "\n  d")
    assert cut("SELECT 'open;") == ([], "SELECT 'open;")
    assert cut("-- only\n") == ([], "\n")


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """A process that was started in the background of a shell hears no Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_stops_the_query_before_it_is_raised() -> None:
    ended: list[str] = []
    with duckdb_connection() as connection:

        @contextmanager
        def query(text: str) -> Iterator[Result]:
            relation = connection.sql(text)
            _thread.interrupt_main()
            try:
                yield Result(("n",), rows_of(relation))
            finally:
                ended.append(text)

        text = "SELECT count(*) AS n FROM range(1000000000) AS a, range(1000000000) AS b"
        with pytest.raises(KeyboardInterrupt):
            run_statement(QueryEngine(query, connection.interrupt), text, JsonOutput(io.StringIO()))
        assert ended == [text]
        assert connection.sql("SELECT 1").fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("before", "offered"),
    [
        ("SEL", ["SELECT"]),
        ("sel", ["select"]),
        ("SELECT * FROM per_", ["per_user", "per_hour"]),
        ("SELECT * FROM clicks WHERE sco", ["score", "scores"]),
        ("SELECT c.s", []),
        ("SELECT * FROM clicks c WHERE c.us", ["user_id"]),
        ("SHOW TA", ["TABLES"]),
        ("DESCRIBE per_u", ["per_user"]),
        ("SELECT date_tr", ["date_trunc"]),
        ("SELECT * FROM information_schema.co", ["columns"]),
        ("", []),
    ],
)
def test_words_are_completed_by_where_they_stand(
    lake: FakeLake, before: str, offered: list[str]
) -> None:
    assert Words.of(lake.project).fitting(before)[1] == offered


def test_json_of_several_statements_is_one_array_each(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert main(["sql", "SELECT 1; SELECT 2 AS b", "--output", "json"]) == 0
    decoder, text = json.JSONDecoder(), capsys.readouterr().out
    first, end = decoder.raw_decode(text)
    assert first == [{"_col0": 1}]
    assert decoder.raw_decode(text[end:].lstrip())[0] == [{"b": 2}]
