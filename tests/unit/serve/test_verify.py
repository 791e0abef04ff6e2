from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from fake_lake import CLICKS, UTC_MICROS, FakeLake, make_lake

from headwater.errors import HeadwaterError
from headwater.lake.protocol.marker import Marker
from headwater.plan.planner import plan_project
from headwater.serve.verify import Verdict, VerifyResult, verify

AT = datetime(2024, 1, 1, 10, tzinfo=UTC)
PER_USER = pa.schema(
    {
        "user_id": pa.int64(),
        "clicks": pa.int64(),
        "score": pa.float64(),
        "scores": pa.int64(),
        "_state_scores": pa.binary(),
    }
)
PER_HOUR = pa.schema({"window_start": UTC_MICROS, "clicks": pa.int64()})


def click(user: int, hour: int, score: float = 1.0) -> dict[str, object]:
    return {"user_id": user, "ts": AT.replace(hour=hour), "score": score}


def micros(at: datetime) -> int:
    return int(at.timestamp()) * 1_000_000


def marker(lake: FakeLake, view: str, epoch: int, watermark: datetime | None = None) -> Marker:
    return Marker(
        view,
        1,
        epoch,
        {},
        {"clicks": str(lake.snapshot("clicks"))},
        watermark=micros(watermark) if watermark else None,
        fingerprint=plan_project(lake.project.catalog)[view].fingerprint,
    )


def check(lake: FakeLake, view: str, snapshot: int | None = None) -> VerifyResult:
    (result,) = verify(lake.project, plan_project(lake.project.catalog), [view], snapshot)
    return result


@pytest.fixture
def clicks(lake: FakeLake) -> FakeLake:
    lake.create("clicks", CLICKS)
    lake.create("per_user", PER_USER)
    lake.create("per_hour", PER_HOUR)
    lake.append("clicks", [click(1, 10, 0.1), click(1, 10, 0.2), click(2, 11, 5.0)])
    return lake


def user(user_id: int, clicks: int, score: float, scores: int) -> dict[str, object]:
    return {"user_id": user_id, "clicks": clicks, "score": score, "scores": scores}


RIGHT = [user(1, 2, 0.1 + 0.2, 2), user(2, 1, 5.0, 1)]


def test_a_view_that_holds_its_select_is_equal(clicks: FakeLake) -> None:
    snapshot = clicks.append("per_user", RIGHT, marker(clicks, "per_user", 0))
    result = check(clicks, "per_user")
    assert result.verdict is Verdict.EQUAL
    assert result.difference and result.difference.rows == 2
    assert result.commit and result.commit.snapshot_id == snapshot
    assert result.columns == ("user_id", "clicks", "score", "scores")


def test_rows_that_came_after_the_cut_do_not_count(clicks: FakeLake) -> None:
    clicks.append("per_user", RIGHT, marker(clicks, "per_user", 0))
    clicks.append("clicks", [click(3, 12)])
    assert check(clicks, "per_user").verdict is Verdict.EQUAL


def test_a_row_deleted_by_hand_is_found(clicks: FakeLake) -> None:
    clicks.append("per_user", RIGHT, marker(clicks, "per_user", 0))
    clicks.delete("per_user", "user_id = 2")
    result = check(clicks, "per_user")
    assert result.verdict is Verdict.DIFFERENT and result.broken
    assert result.difference and result.difference.missing_rows == ((2, 1, 5.0, 1),)
    assert result.difference.surplus == 0


def test_an_older_snapshot_is_checked_against_its_own_cut(clicks: FakeLake) -> None:
    first = clicks.append("per_user", RIGHT, marker(clicks, "per_user", 0))
    clicks.append("clicks", [click(3, 12)])
    clicks.append("per_user", [user(3, 1, 1.0, 7)], marker(clicks, "per_user", 1))
    assert check(clicks, "per_user").verdict is Verdict.DIFFERENT
    assert check(clicks, "per_user", first).verdict is Verdict.EQUAL


def test_sketches_may_be_wrong_within_their_bounds_only(clicks: FakeLake) -> None:
    clicks.append(
        "per_user", [user(1, 2, 0.3, 3), user(2, 1, 5.0, 1)], marker(clicks, "per_user", 0)
    )
    assert check(clicks, "per_user").verdict is Verdict.EQUAL
    clicks.delete("per_user", "user_id = 1")
    clicks.append("per_user", [user(1, 2, 0.3, 9)], marker(clicks, "per_user", 1))
    assert check(clicks, "per_user").verdict is Verdict.DIFFERENT


def test_windows_are_final_once_the_watermark_in_the_marker_has_passed(clicks: FakeLake) -> None:
    eleven = AT.replace(hour=11)
    row = {"window_start": AT, "clicks": 2}
    clicks.append("per_hour", [row], marker(clicks, "per_hour", 0, watermark=eleven))
    assert check(clicks, "per_hour").verdict is Verdict.EQUAL
    noon = AT.replace(hour=12)
    clicks.append("per_hour", [], marker(clicks, "per_hour", 1, watermark=noon))
    result = check(clicks, "per_hour")
    assert result.difference and result.difference.missing_rows == ((eleven, 1),)


def test_late_rows_are_left_out_as_in_motion(clicks: FakeLake) -> None:
    late = click(9, 10) | {"_watermark": AT.replace(hour=11)}
    clicks.append("clicks", [late])
    row = {"window_start": AT, "clicks": 2}
    clicks.append("per_hour", [row], marker(clicks, "per_hour", 0, watermark=AT.replace(hour=11)))
    assert check(clicks, "per_hour").verdict is Verdict.EQUAL


def test_a_view_without_a_commit_is_no_failure(clicks: FakeLake) -> None:
    result = check(clicks, "per_user")
    assert (result.verdict, result.broken) == (Verdict.NO_COMMIT, False)


def test_another_definition_than_the_commits_is_said(clicks: FakeLake) -> None:
    changed = replace(marker(clicks, "per_user", 0), fingerprint="0123")
    clicks.append("per_user", RIGHT, changed)
    result = check(clicks, "per_user")
    assert (result.verdict, result.broken) == (Verdict.CHANGED, True)


def test_a_view_over_a_source_cannot_be_verified(tmp_path: Path) -> None:
    lake = make_lake(
        tmp_path,
        "CREATE SOURCE s (a BIGINT) WITH (connector = 'files', path = 'in')"
        " FORMAT PLAIN ENCODE JSON;"
        "CREATE STREAMING VIEW v AS SELECT a FROM s;",
    )
    result = check(lake, "v")
    assert (result.verdict, result.broken) == (Verdict.NOT_KEPT, False)
    assert "source s is not landed" in result.reason


def test_an_unknown_snapshot_is_refused(clicks: FakeLake) -> None:
    clicks.append("per_user", RIGHT, marker(clicks, "per_user", 0))
    with pytest.raises(HeadwaterError) as caught:
        check(clicks, "per_user", 1)
    assert caught.value.condition == "UNKNOWN_SNAPSHOT"


def test_a_snapshot_that_is_part_of_a_commit_is_refused(clicks: FakeLake) -> None:
    part = clicks.append("per_user", RIGHT[:1], marker(clicks, "per_user", 0))
    whole = clicks.append("per_user", RIGHT[1:], marker(clicks, "per_user", 0))
    assert check(clicks, "per_user", whole).verdict is Verdict.EQUAL
    with pytest.raises(HeadwaterError) as error:
        check(clicks, "per_user", part)
    assert error.value.condition == "PART_OF_A_COMMIT"
    assert str(whole) in str(error.value.hint)


def test_a_snapshot_needs_one_view(clicks: FakeLake) -> None:
    with pytest.raises(HeadwaterError) as caught:
        verify(clicks.project, plan_project(clicks.project.catalog), (), 1)
    assert caught.value.condition == "ONE_VIEW"
