"""``headwater import`` on the command line: what it says, its exit codes, bad input in one line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from headwater.cli.commands.create.import_ import FROM
from headwater.cli.main import main
from headwater.importing import SYSTEMS

FLINK = """\
CREATE TABLE t (id INT) WITH ('connector' = 'datagen');
CREATE VIEW v AS SELECT id FROM t;
CREATE VIEW w AS SELECT NOW() AS at FROM t;
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.sql").write_text(FLINK)
    (tmp_path / "empty.sql").write_text("-- nothing\n")
    (tmp_path / "program").write_bytes(b"\x7fELF\x02\xff\xfe" * 100)
    (tmp_path / "nul.sql").write_bytes(b"CREATE TABLE t\0(id INT)")
    (tmp_path / "rides.sql").write_text(
        "CREATE STREAM s (id INT) WITH (kafka_topic = 's', value_format = 'json');\n"
    )
    (tmp_path / "model.sql").write_text("select 1 as one from {{ ref('x') }}")
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    (tmp_path / "nothing").mkdir()
    (tmp_path / "broken.yml").write_text("a: [")
    return tmp_path


def test_the_command_knows_every_system() -> None:
    assert set(FROM) == set(SYSTEMS)


def test_a_person_sees_what_was_turned_and_what_comes_next(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["import", "job.sql", "--from", "flink"]) == 1
    out, err = capsys.readouterr()
    assert "job.sql:3" in out and "left out" in out and "the clock is no" in out
    assert "turned 2 of 3 statements: 1 table, 1 view" in err
    assert "cd job" in err
    assert main(["--project", "job", "check"]) == 0


def test_a_program_gets_counts_and_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(shlex.split("import job.sql --from flink --to out --output json")) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["statements"], found["turned"]) == (3, 2)
    assert found["parts"] == {"table": 1, "view": 1}
    assert [each["result"] for each in found["report"]] == ["left out"]
    assert set(found["report"][0]) == {"place", "what", "result", "reason", "remedy"}
    assert main(shlex.split("import job.sql --from flink --to again --output csv")) == 1
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "place,what,result,reason,remedy"
    assert len(lines) == 1


def test_everything_turned_is_exit_0(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sound.sql").write_text("\n".join(FLINK.splitlines()[:2]))
    assert main(["import", "sound.sql", "--from", "flink"]) == 0
    assert "turned 2 of 2" in capsys.readouterr().err


BAD = {
    "import program --from flink --to x": "INVALID_TEXT — the file is not UTF-8: byte 5",
    "import nul.sql --from flink --to x": "INVALID_TEXT — the file contains a NUL character",
    "import empty.sql --from flink --to x": "NOTHING_TO_IMPORT — there is no statement of Flink in",
    "import nothing --from ksqldb --to x": "NOTHING_TO_IMPORT — there is no statement of ksqlDB",
    "import nothing --from dbt --to x": "NOTHING_TO_IMPORT — there is no statement of dbt",
    "import job.sql --from ksqldb --to x": "OTHER_SYSTEM — job.sql is written for Flink",
    "import rides.sql --from flink --to x": "OTHER_SYSTEM — rides.sql is written for ksqlDB",
    "import rides.sql --from materialize --to x": "OTHER_SYSTEM — rides.sql is written for ksqlDB",
    "import job.sql --from storm": 'USAGE — invalid value for "--from": "storm" is not one of',
    "import job.sql": 'USAGE — missing option "--from"',
    "import --from flink": 'USAGE — missing argument "FILE..."',
    "import gone.sql --from flink": 'USAGE — invalid value for "FILE..."',
    "import job.sql --from flink --to taken": 'NOT_EMPTY — "taken" exists',
    "import job.sql --from flink --to job.sql": 'NOT_EMPTY — "job.sql" exists',
    "import job.sql --from flink --set a": 'USAGE — "a" is not NAME=VALUE',
    "import broken.yml --from dbt --to x": 'INVALID_TEXT — "broken.yml" is not valid YAML',
    "import model.sql --from dbt --to x --set dialect=cobol": "UNKNOWN_DIALECT — dialect",
}


@pytest.mark.parametrize("command", BAD)
def test_bad_input_is_one_line_and_writes_nothing(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(command)) == 2
    out, err = capsys.readouterr()
    said = [line for line in err.splitlines() if not line.startswith("  ")]
    assert out == ""
    assert len(said) == 1
    assert BAD[command] in said[0]
    assert "hint: " in err
    assert not (folder / "x").exists()


def test_a_folder_of_dbt_becomes_a_folder_beside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "My Bakery" / "models").mkdir(parents=True)
    (folder / "My Bakery" / "models" / "one.sql").write_text("select id from {{ ref('ids') }}")
    (folder / "My Bakery" / "ids.csv").write_text("id\n1\n")
    assert main(["import", "My Bakery", "--from", "dbt"]) == 0
    assert "cd My Bakery_headwater" in capsys.readouterr().err
    settings = (folder / "My Bakery_headwater" / "headwater.toml").read_text()
    assert settings == 'name = "my_bakery_headwater"\n'
    assert main(["--project", "My Bakery_headwater", "check"]) == 0


def test_no_secret_is_in_what_an_import_says(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "secret.sql").write_text(
        "CREATE TABLE a (id INT) WITH ('connector' = 'kafka', 'topic' = 't', 'format' = 'json',"
        " 'properties.bootstrap.servers' = 'b:9092', 'x.api.key' = 'hush-1',"
        " 'properties.sasl.jaas.config' = 'x username=\"u\" password=\"hush-2\"');\n"
        "CREATE TABLE b (id 'hush-3') WITH ('connector' = 'jdbc', 'url' = 'jdbc:x:hush-4');\n"
        "CREATE TABLE c (id INT) 'hush-5' WITH ('connector' = 'unheard', 'password' = 'hush-6');\n"
    )
    main(["import", "secret.sql", "--from", "flink"])
    out, err = capsys.readouterr()
    written = [path.read_text() for path in (folder / "secret").rglob("*") if path.is_file()]
    assert "hush" not in " ".join([out, err, *written])
    assert "${env:KAFKA_SASL_PASSWORD}" in " ".join(written)
