"""A connector, a sink and an encoding of another package are found by their entry points alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name
from textwrap import indent

import pytest

from headwater.analyze.connectors.registry import CONNECTORS, SINKS
from headwater.analyze.definitions import Source
from headwater.analyze.project import bind
from headwater.connectors.contract import HasLedger, HasPositions, Measurable, Redecodable
from headwater.connectors.registry import reader_of, writer_of
from headwater.dialect import parse
from headwater.errors import ErrorGroup, HeadwaterError
from tests.support.imports import imports
from tests.support.toy_package import TOY, install

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "headwater"
PROJECT = """\
CREATE TABLE squares (n BIGINT, square BIGINT, said VARCHAR)
WITH (connector = 'squares', first = 1, last = 9) FORMAT PLAIN ENCODE WORDS (language = 'de');
CREATE STREAMING VIEW large AS SELECT n, square FROM squares WHERE square > 50;
CREATE SINK out FROM large WITH (connector = 'squares', name = 'a') FORMAT PLAIN;
"""


@pytest.fixture
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)


def named(connector: str) -> Source:
    return Source("t", True, (), connector)


def problems(sql: str) -> list[str]:
    try:
        bind({"a.sql": parse(sql, file="a.sql")})
    except ErrorGroup as group:
        return [f"{each.condition}: {each.message} ({each.hint})" for each in group.errors]
    except HeadwaterError as error:
        return [f"{error.condition}: {error.message} ({error.hint})"]
    return []


def checked(folder: Path, sql: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """Run ``headwater check`` in a process that fails if it imports Spark."""
    (folder / "headwater.toml").write_text("")
    (folder / "a.sql").write_text(sql)
    code = (
        "import sys; sys.modules['pyspark'] = None\n"
        "from headwater.cli.main import main\n"
        "sys.exit(main())"
    )
    environ = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, *path)))}
    command = [sys.executable, "-c", code, "check", "--project", str(folder), "--output", "json"]
    return subprocess.run(command, capture_output=True, text=True, env=environ)


def test_check_knows_what_an_installed_package_adds_and_starts_no_jvm(tmp_path: Path) -> None:
    with_it = checked(tmp_path, PROJECT, TOY)
    assert (with_it.returncode, with_it.stderr) == (0, "")
    without = checked(tmp_path, PROJECT)
    assert without.returncode == 1 and "ENCODE is one of JSON" in without.stdout + without.stderr


@pytest.mark.usefixtures("_toy")
@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ("last = 9", "lats = 9", 'connector squares has no option "lats" (did you mean last?)'),
        ("last = 9", "last = 'x'", 'option "last" is not an integer'),
        ("first = 1", "first = 10", "first is 10, after last (write first = 9)"),
        ("ENCODE WORDS", "ENCODE CSV", "ENCODE CSV with connector squares"),
        ("'de'", "'fr'", 'option "language" cannot be fr'),
        ("name = 'a'", "nam = 'a'", 'has no option "nam" (did you mean name?)'),
        ("'squares', name", "'squers', name", "(did you mean squares?)"),
        ("'squares', first", "'broken', first", "CONNECTOR_NOT_LOADED"),
        ("'squares', first", "'outdated', first", "was made for another release"),
    ],
)
def test_its_options_are_checked_as_ours_are(written: str, instead: str, said: str) -> None:
    assert problems(PROJECT) == []
    assert said in "\n".join(problems(PROJECT.replace(written, instead)))


@pytest.mark.usefixtures("_toy")
def test_its_classes_fulfil_the_contract() -> None:
    catalog = bind({"a.sql": parse(PROJECT)})
    reader = reader_of(catalog.sources["squares"])
    assert issubclass(reader, HasPositions)
    assert not issubclass(reader, HasLedger | Redecodable | Measurable)
    assert writer_of(catalog.sinks["out"]).__name__ == "Board"


def test_redis_is_found_as_a_package_of_others_is() -> None:
    assert CONNECTORS["redis"].reader == "headwater.connectors.redis.source:Redis"
    ours = [path for path in PACKAGE.rglob("*.py") if "redis" not in path.relative_to(ROOT).parts]
    importers = [
        path.name
        for path in ours
        if path.name != "redis.py"
        for name in imports(path, lazy=True)
        if name.startswith(("headwater.connectors.redis", "headwater.analyze.connectors.redis"))
    ]
    assert importers == []


def test_every_entry_names_classes_that_fulfil_the_contract() -> None:
    landed = {name for name, each in CONNECTORS.items() if each.built and not each.in_place}
    assert {name for name in landed if reader_of(named(name))} == {*landed} >= {"files", "redis"}
    assert {resolve_name(each.writer).__name__ for each in SINKS.values()} == {
        "KafkaTopic",
        "IcebergTable",
        "DeltaFolder",
        "Webhook",
    }


def test_no_package_is_looked_at_for_connectors_of_our_own(tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "from headwater.project import load_project; from pathlib import Path\n"
        "load_project(Path(sys.argv[1]))\n"
        "from headwater.analyze.connectors.registered import entry_points_of\n"
        "print(json.dumps(entry_points_of.cache_info().currsize))"
    )
    (tmp_path / "headwater.toml").write_text("")
    (tmp_path / "a.sql").write_text(
        "CREATE TABLE a (x BIGINT) WITH (connector = 'datagen');\n"
        "CREATE STREAMING VIEW v AS SELECT x FROM a;"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (json.loads(run.stdout), run.stderr) == (0, "")


@pytest.mark.parametrize("page", ["connector", "sink", "option"])
def test_a_page_shows_code_that_is_there(page: str) -> None:
    article = "an" if page == "option" else "a"
    text = (ROOT / "docs" / "architecture" / f"adding-{article}-{page}.md").read_text()
    toy = "\n".join(path.read_text() for path in sorted(TOY.rglob("*.py")))
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    missing = [each for each in blocks if each not in toy and indent(each, "    ") not in toy]
    assert blocks and missing == []
