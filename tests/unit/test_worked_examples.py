"""Each worked example is whole, and its events are the same for the same seed."""

import json
from pathlib import Path

import pytest

from headwater.project import load_project
from jobs.examples.__main__ import NAMES
from jobs.examples.generate import SQL, generate
from tests.support.pages import DOCS, ROOT


@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_tests_charts_and_a_page(name: str) -> None:
    project = load_project(SQL / name)
    assert project.catalog.views
    assert list((SQL / name / "tests").glob("*.slt"))
    assert len(list((ROOT / "dashboards" / name).glob("*.yaml"))) >= 3
    page = f"examples/{name.replace('_', '-')}.md"
    text = (DOCS / page).read_text(encoding="utf-8")
    assert page in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for part in ("The question.", f"make examples EXAMPLE={name}", f'title="sql/{name}/', "naive"):
        assert part in text


def generated(name: str, folder: Path, seed: int) -> dict[str, list[str]]:
    """Return the lines of every input, in the order in which they arrive."""
    generate(name, seed=seed, project=folder)
    return {
        table.name: "".join(file.read_text() for file in sorted(table.iterdir())).splitlines()
        for table in (folder / "data").iterdir()
        if table.is_dir()
    }


@pytest.mark.parametrize("name", NAMES)
def test_events_depend_on_the_seed_alone(name: str, tmp_path: Path) -> None:
    first = generated(name, tmp_path / "first", seed=1)
    assert generated(name, tmp_path / "again", seed=1) == first
    assert generated(name, tmp_path / "other", seed=2) != first
    sources = load_project(SQL / name).catalog.sources.values()
    assert {f"data/{table}" for table in first} == {source.options["path"] for source in sources}


@pytest.mark.parametrize("name", NAMES)
def test_events_arrive_late_twice_and_broken(name: str, tmp_path: Path) -> None:
    found = generated(name, tmp_path, seed=1)
    lines = [line for table in found.values() for line in table]
    assert any(map(broken, lines)), "some lines are cut"
    assert len(set(lines)) < len(lines), "some lines arrive twice"
    times = {
        Path(source.options["path"]).name: source.watermark.column
        for source in load_project(SQL / name).catalog.sources.values()
        if source.watermark
    }
    late = []
    for table, column in times.items():
        events = [json.loads(line) for line in found[table] if not broken(line)]
        seen = [event[column] for event in events if column in event]
        late += [seen != sorted(seen)] if seen else []  # Debezium's envelope shows no time
    assert any(late) or not late, "some rows come out of order"


def broken(line: str) -> bool:
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return True
    return False
