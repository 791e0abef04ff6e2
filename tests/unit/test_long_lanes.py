"""The long lanes take turns, are stopped in time, and fail a run only if something is red."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.long_lanes import Outcome, Part, in_turn, parts, read, result, run, table, write
from tests.support.parts import in_part

ROOT = Path(__file__).parents[2]


def targets() -> dict[str, str]:
    """Return the targets of the Makefile and what each needs first."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z-]+): ([a-z0-9 -]*)", text, re.M))


def test_every_long_lane_has_parts_whose_command_is_its_target() -> None:
    lanes = {part.name.partition("/")[0] for part in parts().values()}
    assert lanes == set(targets()["test-long"].split())
    assert all(p.command.startswith(f"make {n.partition('/')[0]}") for n, p in parts().items())


def test_the_parts_take_turns_by_the_number_of_commits() -> None:
    every = [*parts().values()]
    turns = [in_turn([Part(p.name, p.command) for p in every], 100 + n) for n in range(len(every))]
    assert {part.name for part in turns} == set(parts())


def test_a_part_whose_program_is_missing_leaves_its_turn_to_the_next() -> None:
    absent = Part("dialects", "make dialects", ("no-such-program",))
    assert in_turn([absent, Part("tpch", "make tpch")], 0).name == "tpch"


@pytest.mark.parametrize(
    "line",
    [
        "FAILED tests/spark/test_a.py::test_b - AssertionError",
        "ERROR tests/spark/test_a.py",
        "3 failed, 20 passed in 9.00s",
        "WRONG 7-v3: View(name='v3')",
        "[  3.1 min] 100 queries, 2 wrong",
        "tick 1: 1 wrong",
        "queries=22 kept=22 refused=0 wrong=1 ticks=4 seed=1",
        "kills=3 violations=1 fired=3 seed=1",
        "swaps=3 kills=1 reads=40 violations=0 equal=false seed=1",
        "q4   WRONG    Average price: holds 3 rows",
        "wrong: SELECT 1",
        "2 surprises in 2505 forms",
    ],
)
def test_a_stopped_part_is_red_if_it_said_so(line: str) -> None:
    assert result(130, f"tick 0: 0 wrong\n{line}\ntick 3: 0 wrong\n", stopped=True) == "red"


def test_a_stopped_part_that_said_nothing_wrong_fails_no_run() -> None:
    printed = "tick 0: 0 wrong\nqueries=3 wrong=0\nkills=2 violations=0\n0 surprises in 9 forms\n"
    assert result(130, printed, stopped=True) == "stopped"
    assert result(1, printed, stopped=False) == "red"
    assert result(0, printed, stopped=False) == "passed"


def test_tests_that_the_interrupt_ended_are_not_red() -> None:
    printed = """..F
_____ tests/services/test_a.py _____
worker 'gw1' crashed while running 'tests/services/test_a.py::test_b[1]'
FAILED tests/services/test_a.py::test_b[1] - wor...
! xdist.dsession.Interrupted: <WorkerController gw0> received keyboard-interrupt !
1 failed, 78 passed in 2140.56s (0:35:40)
make: *** [Makefile:219: test-services] Error 2
"""
    assert result(2, printed, stopped=True) == "stopped"
    own = "FAILED tests/services/test_c.py::test_d - AssertionError\n"
    assert result(2, printed + own, stopped=True) == "red"
    assert result(2, printed.replace("1 failed", "2 failed"), stopped=True) == "red"


def test_the_words_of_a_part_are_its_counts() -> None:
    said = "1 failed, 2 passed in 9s", "ResourceWarning: unclosed file", "make[1]: *** [x] Error 1"
    found = run(Part("a", "; ".join(f"echo '{each}'" for each in said)), seconds=60)
    assert found.words == said[0]


def test_a_part_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    deaf = f"trap '' INT; printf '1 of 9'; (touch {begun}; exec sleep infinity)"
    for patience in (1, 5, 60):  # seconds in which a busy machine has to start it
        outcome = run(Part("deaf", deaf), seconds=patience, grace=1)
        if begun.exists():
            break
    # it came back, so nobody holds the pipe that the processes printed to
    assert (outcome.result, outcome.words) == ("stopped", "1 of 9")


def test_the_table_says_how_far_behind_each_part_is(tmp_path: Path) -> None:
    head = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    held = {
        "swaps": Outcome(head, "2026-11-28", 12, "passed", "swaps=20"),
        "tpch": Outcome(f"{head}+", "2026-11-28", 35, "stopped", "tick 2: 0 wrong"),
    }
    write(held, tmp_path / "ran.json")
    assert read(tmp_path / "ran.json") == held
    shown = table(held)
    assert re.search(rf"^swaps +{head} +0  2026-11-28  12  passed$", shown, re.M)
    assert re.search(r"^tpch .* stopped\n +tick 2: 0 wrong$", shown, re.M)
    assert re.search(r"^tpcds/1 +never$", shown, re.M)
    assert max(map(len, shown.splitlines())) <= 80


def test_every_test_is_in_one_part() -> None:
    for name in map(str, range(99)):
        assert sum(in_part(name, f"{number}/3") for number in (1, 2, 3)) == 1
        assert in_part(name, None)
