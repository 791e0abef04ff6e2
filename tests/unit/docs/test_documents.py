"""What documents for contributors name is there: files, functions, make targets, links, layers.

Sentences and links of the pages for users are held here too; for their blocks, see test_blocks.
"""

from __future__ import annotations

import re
import runpy
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.pages import pages

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs" / "architecture").glob("*.md")),
    *sorted((ROOT / "docs" / "adr").glob("*.md")),
]
WRITTEN = sorted({*PAGES, *(page for page in pages() if "reference" not in page.parts)})
"""All pages but those that are generated."""

LONGEST = 25
"""Words of a sentence."""

FOLDERS = "bench|catalog|dashboards|docker|docs|headwater|jobs|sql|tests"
NAMED = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)(?:::(\w+))?`")
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)(?:#([^)\s]+))?\)")


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(path: Path) -> str:
    """Return the text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def defines(code: str, name: str) -> bool:
    """Whether a module defines a function, class or constant."""
    words = rf"(?:def|class) {name}\b|{name}(?:: [^=\n]+)? = "
    return bool(re.search(rf"^\s*(?:{words})", code, re.MULTILINE))


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_every_file_and_function_that_a_page_names_is_there(path: Path) -> None:
    missing = []
    for file, name in NAMED.findall(prose(path)):
        found = ROOT / file
        if not found.exists() or (name and not defines(found.read_text("utf-8"), name)):
            missing.append(f"{file}::{name}" if name else file)
    assert not missing


@pytest.mark.parametrize("path", WRITTEN, ids=ids)
def test_every_link_of_a_page_leads_somewhere(path: Path) -> None:
    broken = []
    for target, heading in LINK.findall(prose(path)):
        page = (path.parent / target).resolve()
        if not page.exists() or (heading and heading not in anchors(page)):
            broken.append(f"{target}#{heading}" if heading else target)
    assert not broken


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and mkdocs make them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("path", PAGES, ids=ids)
def test_every_make_target_that_a_page_names_is_there(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z][a-z-]*)", path.read_text("utf-8"), re.MULTILINE)
    assert not set(named) - targets


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture/overview.md"])
def test_the_diagram_of_the_layers_is_what_is_tested(page: str) -> None:
    """A layer may import what arrows lead to; ``redact`` is below ``errors`` and left out."""
    below: dict[str, set[str]] = {}
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        groups = [part.strip().split(" & ") for part in line.split(" --> ")]
        for uppers, lowers in pairwise(groups if line.startswith("    ") else []):
            for upper in uppers:
                below.setdefault(upper, set()).update(lowers)

    def reached(layer: str) -> set[str]:
        direct = below.get(layer, set())
        return direct.union(*map(reached, direct))

    tested = runpy.run_path(str(ROOT / "tests" / "unit" / "test_layers.py"))["MAY_IMPORT"]
    aside = {"redact", "__init__", "__main__"}
    layers = below.keys() | set().union(*below.values())
    assert {layer: reached(layer) - aside for layer in layers - aside} == {
        layer: allowed - aside for layer, allowed in tested.items() if layer not in aside
    }


@pytest.mark.parametrize("path", WRITTEN, ids=ids)
def test_no_sentence_of_a_page_is_too_long(path: Path) -> None:
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", prose(path)))
    parts = re.split(r"\n\s*\n|\n(?=#|- |\d+\. )|\|", text)
    sentences = [each for part in parts for each in re.split(r"(?:[.!?:;][*)]*)\s+", part)]
    assert [each for each in sentences if len(each.split()) > LONGEST] == []


def test_the_overview_has_a_line_for_every_folder_of_the_second_level() -> None:
    overview = (ROOT / "docs" / "architecture" / "overview.md").read_text(encoding="utf-8")
    listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    parts = (file.split("/") for file in listed if not file.startswith("."))
    folders = {"/".join(each[:2]) for each in parts if len(each) > 2}
    examples = {path.stem for path in (ROOT / "jobs" / "examples").glob("*.sql")}
    folders -= {f"{parent}/{name}" for parent in ("sql", "dashboards") for name in examples}
    assert folders - {name.rstrip("/") for name in re.findall(r"`([\w./-]+)`", overview)} == set()


def test_contributing_can_be_read_in_one_sitting() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_bytes()) <= 16 * 1024
