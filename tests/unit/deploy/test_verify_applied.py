"""A view whose file has changed is judged by the definition that is applied."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.cli.main import main
from headwater.errors import EXIT_NO, EXIT_OK
from headwater.lake.protocol.marker import Marker
from headwater.lake.reserved_names import DEFINITION, definition_of
from tests.unit.deploy.changed_lake import BIGINT, Lake

VIEWS = (
    "CREATE STREAMING VIEW a AS SELECT user_id, count(*) AS n FROM clicks GROUP BY user_id;"
    "CREATE STREAMING VIEW b AS SELECT n, count(*) AS users FROM a GROUP BY n;"
)
CHANGED = VIEWS.replace("count(*) AS n", "count(*) + 1 AS n")


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """Views that have read all there is."""
    found = Lake(tmp_path, VIEWS)
    found.land("clicks", 1, 2)
    found.write("a", {"user_id": BIGINT, "n": BIGINT}, {"user_id": 1, "n": 2})
    found.write("b", {"n": BIGINT, "users": BIGINT}, {"n": 2, "users": 1})
    monkeypatch.chdir(tmp_path)
    return found


def test_it_is_equal_to_what_was_applied(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    lake.changed(CHANGED)
    assert main(["verify", "--output", "csv"]) == EXIT_OK
    header, *rows = capsys.readouterr().out.splitlines()
    results = {row.split(",")[0]: row.split(",") for row in rows}
    assert {name: row[1] for name, row in results.items()} == {"a": "equal", "b": "equal"}
    assert "judged by the definition that is applied" in ",".join(results["a"])
    assert "definition" not in ",".join(results["b"])


def test_it_is_found_to_differ(lake: Lake, capsys: pytest.CaptureFixture[str]) -> None:
    lake.fake.delete("a", "user_id = 1")
    lake.changed(CHANGED)
    assert main(["verify", "a"]) == EXIT_NO
    out, err = capsys.readouterr()
    assert "1 row in the SELECT, not in the table" in out
    assert "judged by the definition that is applied; its file has changed since" in err


def test_an_earlier_version_is_judged_by_its_own_definition(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    first = lake.fake.snapshot("a")
    table = lake.fake.catalog.load_table((lake.fake.project.config.namespace, "a"))
    old = table.properties[DEFINITION]
    plan = lake.changed(CHANGED).plans["a"]
    with table.transaction() as change:
        change.set_properties({DEFINITION: plan.view.definition, definition_of(1): old})
    cut = {"clicks": str(lake.fake.snapshot("clicks"))}
    marker = Marker("a", 2, 1, cut, cut, fingerprint=plan.fingerprint)
    lake.fake.delete("a", "user_id = 1")
    lake.fake.append("a", [{"user_id": 1, "n": 3}], marker)
    assert main(["verify", "a"]) == EXIT_OK
    assert "judged" not in capsys.readouterr().err
    assert main(["verify", "a", "--snapshot", str(first)]) == EXIT_OK
    assert "judged by the definition" in capsys.readouterr().err


def test_a_commit_without_a_stored_definition_cannot_be_judged(
    lake: Lake, capsys: pytest.CaptureFixture[str]
) -> None:
    table = lake.fake.catalog.load_table((lake.fake.project.config.namespace, "a"))
    with table.transaction() as change:
        change.remove_properties(DEFINITION)
    lake.changed(CHANGED)
    assert main(["verify", "a"]) == EXIT_NO
    assert "definition changed" in capsys.readouterr().out
