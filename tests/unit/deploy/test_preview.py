"""``plan --diff``: which rows would appear, vanish and change, and that this is what happens."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from headwater.cli.main import main
from headwater.deploy.changes import Kind
from tests.fuzz import changes as fuzz
from tests.unit.deploy.changed_lake import BIGINT, NOON, TEXT, TIME, Lake, table


def test_every_copy_of_a_row_is_shown(tmp_path: Path) -> None:
    view = "CREATE STREAMING VIEW v AS SELECT user_id FROM clicks"
    lake = Lake(tmp_path, view)
    lake.land("clicks", 1, 2, 3)
    lake.write("v", {"user_id": BIGINT}, *[{"user_id": 1}] * 3)
    found = lake.diff(f"{view} WHERE ts > TIMESTAMP '2026-01-01 12:02:00Z'")["v"]
    assert (found.vanish, found.rows) == (2, (("-", 1), ("-", 1)))


@pytest.mark.parametrize(
    ("item", "kind", "before", "after"),
    [
        ("user_id", BIGINT, 1, None),
        ("score > 1", pa.bool_(), True, ("true", "1")),
        ("CAST(ts AS DATE)", pa.date32(), NOON.date(), ("2026-01-01", "1")),
        ("CAST(user_id AS VARCHAR)", TEXT, "1", None),
        ("CAST(user_id AS INTEGER)", pa.int32(), 1, None),
        ("score", pa.float64(), 1.5, (1.5, 1.0)),
    ],
)
def test_a_column_of_another_type(
    tmp_path: Path,
    item: str,
    kind: pa.DataType,
    before: object,
    after: tuple[object, object] | None,
) -> None:
    """Numbers are compared as numbers, whatever their types; others by their text."""
    view = "CREATE STREAMING VIEW v AS SELECT {} AS x FROM clicks"
    lake = Lake(tmp_path, view.format(item))
    lake.land("clicks", 1)
    lake.write("v", {"x": kind}, {"x": before})
    found = lake.diff(view.format("CAST(round(score - 0.5) AS BIGINT)"))["v"]
    assert found.rows == ((("-", after[0]), ("+", after[1])) if after else ())


def test_a_new_version_waits_for_its_own_inputs(tmp_path: Path) -> None:
    """What is final is decided by the watermarks of what it reads, not by that of the old one."""
    view = (
        "CREATE STREAMING VIEW v AS SELECT window_start, count(*) AS n"
        " FROM TUMBLE({}, ts, INTERVAL '1' MINUTE) GROUP BY window_start EMIT ON WINDOW CLOSE"
    )
    lake = Lake(tmp_path, view.format("clicks"), ("clicks", "others"))
    lake.land("clicks", 1, 59)
    lake.land("others", 1, 12)
    windows = {"window_start": TIME, "n": BIGINT}
    lake.write("v", windows, {"window_start": NOON.replace(minute=1), "n": 1})
    assert lake.diff(view.format("others"))["v"].rows == ()
    lake.land("others", 11, 30)
    found = lake.diff(view.format("others"))["v"]
    assert [row[1] for row in found.rows] == [NOON.replace(minute=minute) for minute in (11, 12)]


def test_an_unchanged_view_between_two_changed_ones(tmp_path: Path) -> None:
    views = (
        "CREATE STREAMING VIEW a AS SELECT user_id, count(*) AS n FROM clicks GROUP BY user_id;"
        "CREATE STREAMING VIEW b AS SELECT n, count(*) AS users FROM a GROUP BY n;"
        "CREATE STREAMING VIEW c AS SELECT n FROM b;"
    )
    lake = Lake(tmp_path, views)
    lake.land("clicks", 1, 2)
    lake.write("a", {"user_id": BIGINT, "n": BIGINT}, {"user_id": 1, "n": 2})
    lake.write("b", {"n": BIGINT, "users": BIGINT}, {"n": 2, "users": 1})
    lake.write("c", {"n": BIGINT}, {"n": 2})
    found = lake.diff(
        views.replace("count(*) AS n ", "count(*) * 3 AS n ").replace(
            "SELECT n FROM b", "SELECT n + 1 AS n FROM b"
        )
    )
    assert found["a"].rows == (("-", 1, 2), ("+", 1, 6)) and found["a"].change == 1
    assert {*found["c"].rows} == {("-", 2), ("+", 7)}
    assert "b" not in found


def test_what_a_changed_view_reads_can_be_new(tmp_path: Path) -> None:
    """A view that has no commit yet, and a table that has not landed."""
    old = "CREATE STREAMING VIEW v AS SELECT user_id FROM clicks;"
    lake = Lake(tmp_path, old)
    lake.land("clicks", 1, 2)
    lake.write("v", {"user_id": BIGINT}, {"user_id": 1}, {"user_id": 1})
    new = (
        f"{table('others')} CREATE STREAMING VIEW n AS SELECT max(user_id) AS user_id FROM clicks;"
        "CREATE STREAMING VIEW v AS SELECT user_id + 1 AS user_id FROM n UNION ALL"
        " SELECT user_id FROM others;"
    )
    assert {*lake.diff(new)["v"].rows} == {("-", 1), ("+", 2)}


def test_how_old_rows_may_be_is_a_change(tmp_path: Path) -> None:
    view = "CREATE STREAMING VIEW v AS SELECT ts FROM clicks WHERE ts > watermark() - INTERVAL {}"
    lake = Lake(tmp_path, view.format("'1' HOUR"))
    lake.land("clicks", 1, 40)
    lake.write("v", {"ts": TIME}, *({"ts": NOON.replace(minute=minute)} for minute in (1, 40)))
    (change,) = lake.changed(view.format("'10' MINUTE")).due
    assert (change.kind, change.reason) == (Kind.REBUILD, "FROM differs")
    assert "'1' HOUR" in change.old and "'10' MINUTE" in change.new
    found = lake.diff(view.format("'10' MINUTE"))["v"]
    assert found.rows == (("-", NOON.replace(minute=1)),)


@pytest.mark.parametrize("seed", ["of a", "of d", "of c"])
def test_random_changes_are_predicted_as_they_are(seed: str) -> None:
    tried = fuzz.Tried()
    fuzz.try_batch(seed, 8, tried)
    assert not tried.wrong and tried.moved > 1


def test_a_planted_mistake_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = fuzz.Difference.of

    def lies(*arguments: object) -> fuzz.Difference:
        found = real(*arguments)  # type: ignore[arg-type]
        return fuzz.Difference(found.columns, found.come, found.come)

    monkeypatch.setattr(fuzz.Difference, "of", lies)
    tried = fuzz.Tried()
    fuzz.try_batch("of a", 8, tried)
    assert tried.wrong


def test_a_renamed_input_is_read_where_it_was_read(tmp_path: Path) -> None:
    """A cut names an input as it was; what came after the cut is not part of the comparison."""
    views = "CREATE STREAMING VIEW v AS SELECT user_id FROM clicks;{} SELECT user_id{} FROM {};"
    lake = Lake(tmp_path, views.format("CREATE STREAMING VIEW w AS", "", "v"))
    lake.land("clicks", 1)
    lake.write("v", {"user_id": BIGINT}, {"user_id": 1})
    lake.write("w", {"user_id": BIGINT}, {"user_id": 1})
    lake.commit("v", {"user_id": 5})
    changed = views.format("CREATE STREAMING VIEW w AS", " * 2 AS user_id", "renamed")
    found = lake.diff(changed.replace("CREATE STREAMING VIEW v", COMMENT, 1))
    assert {name: each.rows for name, each in found.items()} == {"w": (("-", 1), ("+", 2))}


COMMENT = "-- renamed from: v\nCREATE STREAMING VIEW renamed"


def test_a_renamed_column_is_a_rename_and_no_loss(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = "CREATE STREAMING VIEW v AS SELECT user_id, count(*) AS {}, {} FROM clicks GROUP BY 1;"
    old, high = view.format("n", "max(score) AS high"), "max(score) AS high"
    lake = Lake(tmp_path, old)
    lake.land("clicks", 1, 2)
    row = {"user_id": 1, "n": 2, "high": 1.5}
    lake.write("v", {"user_id": BIGINT, "n": BIGINT, "high": pa.float64()}, row)
    found = lake.diff(view.format("clicks", high))["v"]
    assert (found.appear, found.vanish, found.change, found.rows) == (0, 0, 0, ())
    assert (found.renamed, found.added, found.gone) == ({"clicks": "n"}, (), ())
    (change,) = lake.changed(view.format("clicks", high)).due
    assert (change.reason, change.old, change.new) == ("column n is named clicks now", "", "")
    found = lake.diff(view.format("clicks", "max(score) + 1 AS high"))["v"]
    assert found.rows == (("-", 1, 2, 1.5), ("+", 1, 2, 2.5)) and found.change == 1
    main(["--project", str(tmp_path), "plan", "--diff"])
    said = " ".join(capsys.readouterr().out.split())
    assert "1 change; column n is named clicks now, and its values are compared" in said
    assert "NULL" not in said and "not compared" not in said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "SELECT c.user_id, o.score AS n FROM clicks c JOIN others o ON o.user_id = c.user_id",
            "SELECT c.user_id, o.score AS m FROM others c JOIN clicks o ON o.user_id = c.user_id",
        ),
        (
            "SELECT user_id, score AS n FROM clicks UNION ALL SELECT user_id, score FROM others",
            "SELECT user_id, 0.0 AS m FROM clicks UNION ALL SELECT user_id, score FROM others",
        ),
    ],
)
def test_a_column_of_another_relation_is_no_rename(tmp_path: Path, old: str, new: str) -> None:
    view = "CREATE STREAMING VIEW v AS {}"
    lake = Lake(tmp_path, view.format(old), ("clicks", "others"))
    lake.land("clicks", 1)
    lake.land("others", 1)
    lake.write("v", {"user_id": BIGINT, "n": pa.float64()}, {"user_id": 1, "n": 1.5})
    found = lake.diff(view.format(new))["v"]
    assert (found.renamed, found.added, found.gone) == ({}, ("m",), ("n",))


def test_a_column_of_one_side_is_no_null_of_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    view = "CREATE STREAMING VIEW v AS SELECT user_id, {} FROM clicks GROUP BY user_id;"
    lake = Lake(tmp_path, view.format("count(*) AS n"))
    lake.land("clicks", 1, 2)
    lake.write("v", {"user_id": BIGINT, "n": BIGINT}, {"user_id": 1, "n": 2})
    lake.changed(view.format("approx_percentile(score, 0.9) AS p, max(score) AS high"))
    main(["--project", str(tmp_path), "plan", "--diff"])
    said = " ".join(capsys.readouterr().out.split())
    assert "new: column high; gone: column n" in said
    assert "approximate, so its values are not compared: p" in said and "NULL" not in said
