"""Decisions are whole: every ADR has its sections, a number of its own, and tests that hold it."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "docs" / "adr"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))

SECTIONS = ["Context", "Decision", "Rejected", "Consequences", "Held by"]
STATUS = re.compile(r"accepted|proposed|superseded by (\d{4})")
TEST = re.compile(r"- `(tests/[^`:]+)(?:::(\w+))?`")


def ids(path: Path) -> str:
    return path.stem


def field(text: str, name: str) -> str:
    """Return what stands behind ``- name:`` below the title."""
    found = re.search(rf"^- {name}: (.+)$", text.split("\n## ", 1)[0], re.MULTILINE)
    assert found, f"no line '- {name}: …' below the title"
    return found[1]


def sections(text: str) -> dict[str, str]:
    """Return the body of each section by its heading, in order."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def test_numbers_have_no_gaps_and_are_used_once() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize("path", DECISIONS, ids=ids)
def test_a_decision_has_a_title_a_status_a_date_and_a_theme(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.match(rf"# {path.name[:4]}\. \S.*\S\n", text)
    status = STATUS.fullmatch(field(text, "Status"))
    assert status
    assert not status[1] or list(FOLDER.glob(f"{status[1]}-*.md"))
    assert date.fromisoformat(field(text, "Date"))
    assert field(text, "Theme")


@pytest.mark.parametrize("path", DECISIONS, ids=ids)
def test_a_decision_has_its_sections(path: Path) -> None:
    found = sections(path.read_text(encoding="utf-8"))
    assert list(found) == SECTIONS
    assert [name for name, body in found.items() if not body] == []


@pytest.mark.parametrize("path", DECISIONS, ids=ids)
def test_a_decision_is_held_by_tests_that_exist(path: Path) -> None:
    held = sections(path.read_text(encoding="utf-8"))["Held by"]
    named = TEST.findall(held)
    assert len(named) == len(held.splitlines()), "one test a line: - `tests/…/test_x.py::test_y`"
    for file, test in named:
        assert (ROOT / file).is_file(), f"{file} does not exist"
        if file.endswith(".py"):
            code = (ROOT / file).read_text(encoding="utf-8")
            assert test and re.search(rf"^def {test}\(", code, re.MULTILINE), f"{file}::{test}"


def test_the_index_lists_every_decision_below_its_theme() -> None:
    listed: dict[str, tuple[str, str, str]] = {}
    theme = ""
    for line in (FOLDER / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            theme = line[3:]
        elif row := re.fullmatch(r"\| \[(\d{4})\]\((\S+\.md)\) \| (.+) \| (.+) \|", line):
            assert row[2].startswith(row[1])
            listed[row[2]] = (row[3], row[4], theme)
    texts = {path.name: path.read_text(encoding="utf-8") for path in DECISIONS}
    assert listed == {
        name: (
            text.splitlines()[0].partition(". ")[2],
            field(text, "Status"),
            field(text, "Theme"),
        )
        for name, text in texts.items()
    }
