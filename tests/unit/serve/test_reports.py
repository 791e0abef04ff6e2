"""One failing item never ends a report about all: each kind of failure × each report.

In: a lake of two tables and four views in two files, and one thing that is broken. Out of every
report: what is sound, the failing item with the reason, the exit code, no name of Python or Java.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pytest
from fake_lake import UTC_MICROS, FakeLake, make_lake

from headwater import project as projects
from headwater.analyze.definitions import View
from headwater.cli.main import main
from headwater.errors import SqlError
from headwater.lake.protocol.marker import Marker
from headwater.plan import planner
from headwater.plan.planner import plan_project
from headwater.serve import verify as verifying

GOOD = """
CREATE TABLE visits (id BIGINT, page VARCHAR)
WITH (connector = 'files', path = 'visits') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW per_page AS SELECT page, count(*) AS n FROM visits GROUP BY page;
"""
OTHER = """
CREATE TABLE clicks (id BIGINT, page VARCHAR)
WITH (connector = 'files', path = 'clicks') FORMAT PLAIN ENCODE JSON;
CREATE STREAMING VIEW large AS SELECT id, page FROM clicks WHERE id > 1;
CREATE STREAMING VIEW larger AS SELECT id FROM large WHERE id > 2;
CREATE STREAMING VIEW all_pages AS SELECT page FROM visits;
"""
QUARANTINE = pa.schema(
    {
        "reason": pa.string(),
        "raw": pa.binary(),
        "_path": pa.string(),
        "_row": pa.int64(),
        "_arrived_at": UTC_MICROS,
    }
)
ROWS = pa.schema({"id": pa.int64(), "page": pa.string()})
SCHEMAS = {
    "visits": ROWS,
    "clicks": ROWS,
    "per_page": pa.schema({"page": pa.string(), "n": pa.int64()}),
    "large": ROWS,
    "larger": pa.schema({"id": pa.int64()}),
    "all_pages": pa.schema({"page": pa.string()}),
}
HELD = {
    "per_page": [{"page": "a", "n": 2}],
    "large": [{"id": 2, "page": "a"}, {"id": 3, "page": "a"}],
    "larger": [{"id": 3}],
    "all_pages": [{"page": "a"}, {"page": "a"}],
}
SOUND = "per_page"
"""What nothing in the cases below touches."""
FOREIGN = re.compile(
    r"\b\w+(?:Error|Exception)\b(?!\.)|Traceback|pyiceberg|pyarrow|sqlglot|java\.|org\.apache|<class"
)


@dataclass(frozen=True)
class Case:
    """One thing that is broken.

    Attributes:
        damage: breaks it.
        items: what fails because of it.
        reason: what each report says of it.
        defined: whether it is a definition that is broken, which every report names.
    """

    damage: Callable[[FakeLake, pytest.MonkeyPatch], None]
    items: tuple[str, ...]
    reason: str
    defined: bool = True


def text(old: str, new: str) -> Callable[[FakeLake, pytest.MonkeyPatch], None]:
    def damage(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
        file = lake.project.root / "other.sql"
        found = file.read_text()
        assert old in found
        file.write_text(found.replace(old, new))

    return damage


def not_utf8(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
    file = lake.project.root / "other.sql"
    file.write_bytes(file.read_bytes() + b"-- \xff\n")


def unreadable_folder(lake: FakeLake, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = lake.project.root / "more"
    folder.mkdir()
    (lake.project.root / "other.sql").rename(folder / "other.sql")
    (lake.project.root / "last.sql").write_text(
        "CREATE STREAMING VIEW larger AS SELECT id FROM large;"
    )
    actual = os.scandir

    def refused(path: str) -> object:
        if str(path).endswith("more"):
            raise PermissionError(13, "Permission denied", path)
        return actual(path)

    monkeypatch.setattr(os, "scandir", refused)


def no_plan(lake: FakeLake, monkeypatch: pytest.MonkeyPatch) -> None:
    actual = planner.plan_view

    def refused(view: View, *given: object) -> object:
        if view.name == "large":
            raise SqlError("ENGINE_CANNOT", "no engine can maintain it", span=view.span)
        return actual(view, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(planner, "plan_view", refused)


def metadata(lake: FakeLake, name: str) -> Path:
    table = lake.catalog.load_table((lake.project.config.namespace, name))
    return Path(table.metadata_location.removeprefix("file://"))


def dropped(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
    lake.catalog.drop_table((lake.project.config.namespace, "clicks"))


def bad_metadata(name: str) -> Callable[[FakeLake, pytest.MonkeyPatch], None]:
    return lambda lake, _: metadata(lake, name).write_text("{")


def no_metadata(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
    metadata(lake, "large").unlink()


def data(lake: FakeLake, name: str) -> list[Path]:
    return sorted((metadata(lake, name).parents[1] / "data").glob("*.parquet"))


def cut_off(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
    for file in data(lake, "large"):
        file.write_bytes(file.read_bytes()[:40])


def no_data(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
    for file in data(lake, "large"):
        file.unlink()


def no_manifest(lake: FakeLake, _: pytest.MonkeyPatch) -> None:
    for file in metadata(lake, "large").parent.glob("snap-*.avro"):
        file.unlink()


def not_for_duckdb(lake: FakeLake, monkeypatch: pytest.MonkeyPatch) -> None:
    from headwater.plan import at_rest

    actual = at_rest.at_rest

    def refused(plan: object, *given: object, **named: object) -> at_rest.AtRest:
        found = actual(plan, *given, **named)  # type: ignore[arg-type]
        if plan.view.name == "large":  # type: ignore[attr-defined]
            return replace(found, sql="SELECT no_such_function(1) AS id, 'a' AS page")
        return found

    def nothing(*_: object) -> None:
        from headwater.errors import ServiceError

        raise ServiceError("JAVA_MISSING", "there is no Java")

    monkeypatch.setattr(at_rest, "at_rest", refused)
    monkeypatch.setattr("headwater.testing.spark_judge.SparkJudge.compare", nothing)


CASES = {
    "syntax": Case(text("WHERE id > 1", "WHERE id >"), ("large", "larger"), "SYNTAX_ERROR"),
    "column": Case(text("WHERE id > 1", "WHERE idd > 1"), ("large", "larger"), 'column "idd"'),
    "plan": Case(no_plan, ("large", "larger"), "ENGINE_CANNOT"),
    "table": Case(text("id BIGINT,", "id BIGNT,"), ("clicks", "large", "larger"), "BIGNT"),
    "twice": Case(text("VIEW all_pages", "VIEW large"), (), "DUPLICATE_NAME"),
    "UTF-8": Case(not_utf8, ("clicks", "large", "larger", "all_pages"), "not UTF-8"),
    "folder": Case(unreadable_folder, ("larger",), "cannot be read: permission denied"),
    "dropped": Case(dropped, ("large",), "clicks", defined=False),
    "metadata": Case(bad_metadata("large"), ("large",), 'large.*cannot be read', defined=False),
    "no metadata": Case(no_metadata, ("large",), 'large.*cannot be read', defined=False),
    "data": Case(cut_off, ("large",), "large", defined=False),
    "no data": Case(no_data, ("large",), "large", defined=False),
    "manifest": Case(no_manifest, ("large",), "large", defined=False),
    "input": Case(bad_metadata("clicks"), ("clicks",), "clicks.*cannot be read", defined=False),
    "quarantine": Case(
        bad_metadata("clicks__quarantine"), ("clicks",), "quarantine.*cannot be read", defined=False
    ),
    "DuckDB": Case(not_for_duckdb, ("large",), "no_such_function", defined=False),
}  # fmt: skip
REPORTS = {
    "check": ["check"],
    "status": ["status"],
    "verify": ["verify"],
    "doctor": ["doctor"],
    "sql": ["sql", "SELECT page, n FROM per_page"],
    "sql over commits": ["sql", 'SELECT DISTINCT "view" FROM commits'],
    "quarantine": ["quarantine", "list"],
    "explain": ["explain", "per_page"],
}
ANSWERS = ("sql", "sql over commits", "quarantine", "explain")
"""The reports that answer a question: a definition that they do not ask about makes none wrong."""
UNTOUCHED: dict[str, tuple[str, ...]] = {
    "dropped": ("check", "status", "sql", "sql over commits", "quarantine", "explain"),
    "metadata": ("check", "sql", "quarantine", "explain"),
    "no metadata": ("check", "sql", "quarantine", "explain"),
    "data": ("check", "status", "sql", "sql over commits", "quarantine", "explain"),
    "no data": ("check", "status", "sql", "sql over commits", "quarantine", "explain"),
    "manifest": ("check", "status", "sql", "sql over commits", "quarantine", "explain"),
    "input": ("check", "sql", "quarantine", "explain"),
    "quarantine": ("check", "verify", "sql", "explain"),
    "DuckDB": ("check", "status", "doctor", "sql", "sql over commits", "quarantine", "explain"),
}
"""The reports that do not look at what is damaged."""


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeLake:
    lake = make_lake(tmp_path, GOOD)
    (tmp_path / "other.sql").write_text(OTHER)
    lake.project = projects.load_project(tmp_path)
    plans = plan_project(lake.project.catalog)
    for name, schema in SCHEMAS.items():
        lake.create(name, schema)
    for name, rows in (("visits", 2), ("clicks", 3)):
        held = [{"id": number + 1, "page": "a"} for number in range(rows)]
        lake.append(name, held, Marker(name, 1, 0, {}, {}))
        lake.create(f"{name}__quarantine", QUARANTINE)
        counts = {"quarantined": 0, "dropped": 0}
        lake.append(f"{name}__quarantine", [], Marker(name, 1, 0, {}, {}, counts=counts))
    for name, rows in HELD.items():
        cut = {each: str(lake.snapshot(each)) for each in plans[name].view.inputs}
        made = Marker(name, 1, 0, {}, cut, fingerprint=plans[name].fingerprint)
        lake.append(name, rows, made)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    return lake


def report(name: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(REPORTS[name])
    out, err = capsys.readouterr()
    return code, out, err


def test_a_sound_project_is_reported_as_sound(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    assert {name: report(name, capsys)[0] for name in REPORTS} == dict.fromkeys(REPORTS, 0)


@pytest.mark.parametrize("case", CASES)
def test_one_failing_item_ends_no_report(
    case: str, lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    CASES[case].damage(lake, monkeypatch)
    for name in REPORTS:
        code, out, err = report(name, capsys)
        said = f"{name}: {out}{err}"
        assert not FOREIGN.search(said), said
        if name not in ("doctor", "quarantine", "sql"):  # these say nothing of what is sound
            assert SOUND in out, said
        if name in UNTOUCHED.get(case, ()):
            continue
        assert code == (0 if CASES[case].defined and name in ANSWERS else 1), said
        assert re.search(CASES[case].reason, said, re.DOTALL), said
        for item in CASES[case].items if name in ("check", "status", "verify", "doctor") else ():
            if not (name == "verify" and item == "clicks"):  # a table has no SELECT
                assert item in said, said


@pytest.mark.parametrize("case", ["syntax", "column", "table"])
def test_an_error_is_said_once_and_what_reads_it_is_blocked(
    case: str, lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    CASES[case].damage(lake, monkeypatch)
    _, out, err = report("check", capsys)
    assert err.count(" — ") == 1, err
    root = CASES[case].items[0]
    assert [line for line in err.splitlines() if "blocked by" in line] == [
        f'view "{name}" is blocked by {root}' for name in CASES[case].items[1:]
    ]


@pytest.mark.parametrize("case", ["syntax", "column", "table", "UTF-8"])
def test_what_is_asked_about_sound_views_is_not_answered_with_an_error(
    case: str, lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    CASES[case].damage(lake, monkeypatch)
    for command in (["verify", SOUND], ["doctor", SOUND], ["versions", SOUND]):
        code, err = main(command), capsys.readouterr().err
        assert code == 0 and CASES[case].reason in err, f"{command}: {err}"
    for command in (["verify", "large"], ["explain", "large"], ["verify"], ["doctor"]):
        assert main(command) != 0, command


def test_run_refuses_to_start(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    CASES["syntax"].damage(lake, monkeypatch)
    assert main(["run", "--once"]) == 2
    assert "SYNTAX_ERROR" in capsys.readouterr().err


def test_check_of_a_file_gives_the_errors_of_that_file_only(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (Path("third.sql")).write_text("CREATE STREAMING VIEW third AS SELECT pge FROM visits;\n")
    code = main(["check", "project.sql"])
    out, err = capsys.readouterr()
    assert (code, "per_page" in out, "large" in out, "third" in err) == (0, True, False, False)
    code = main(["check", "third.sql"])
    out, err = capsys.readouterr()
    assert (code, err.count(" — "), "per_page" in out) == (1, 1, False)
    CASES["column"].damage(lake, monkeypatch)
    code = main(["check", "other.sql"])
    out, err = capsys.readouterr()
    assert (code, err.count(" — "), "idd" in err, "all_pages" in out) == (1, 1, True, True)


def test_a_view_that_duckdb_cannot_run_is_compared_by_the_next_engine(
    lake: FakeLake, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    not_for_duckdb(lake, monkeypatch)
    from headwater.serve.compare import RowDifference

    asked: list[str] = []

    def compared(_: object, case: verifying.Case, __: int) -> RowDifference:
        asked.append(case.plan.view.name)
        return RowDifference(2, 0, 0)

    monkeypatch.setattr("headwater.testing.spark_judge.SparkJudge.compare", compared)
    code, out, err = report("verify", capsys)
    assert (code, asked) == (0, ["large"]), out + err
    assert "large: equal: compared by Spark: DuckDB cannot run it (" in err


def test_a_view_behind_a_failed_view_says_so(
    lake: FakeLake, capsys: pytest.CaptureFixture[str]
) -> None:
    lake.append("large", [{"id": 9, "page": "x"}])  # nobody's commit: large is different
    code, out, err = report("verify", capsys)
    assert code == 1
    assert "larger: equal: it reads large: different" in err, out + err
    state = lake.project.config.state
    state.mkdir(parents=True)
    (state / "run.json").write_text(
        '{"pid": 0, "views": {"large": {"state": "failed", "error":'
        ' {"condition": "DISK_FULL", "message": "no space left", "hint": ""}}}}'
    )
    for name in ("status", "verify", "doctor"):
        _, out, err = report(name, capsys)
        assert "waits for large, which stopped: DISK_FULL: no space left" in out + err, name
