"""The blocks of README, CONTRIBUTING and docs/ are true: SQL passes ``check``, commands exist.

Definitions of a page add up: each ``sql`` block is checked together with those above it. A comment
on the line above a block says what is expected otherwise:

- ``<!-- check: refused CONDITION -->``: it is refused with this condition; an error printed in a
  ``text`` block right below is the one that comes out
- ``<!-- check: new project -->``: the page begins anew with this block
- ``<!-- check: project sql/shop -->``: likewise, with the definitions of that project
- ``<!-- check: grammar -->``: it shows the form of a statement and is none
- ``<!-- check: printed -->``: a test of the page runs the command, and compares what it prints
- ``<!-- check: exits 1 -->``: likewise, and the command exits with 1
"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import click
import pytest
from ruamel.yaml import YAML

from headwater.cli.main import cli, main
from headwater.config.settings import load_config
from headwater.dialect import parse
from headwater.dialect.splitter import cut
from headwater.errors import EXIT_NO, EXIT_OK, ConfigError, HeadwaterError
from headwater.testing.slt import parse as parse_slt
from tests.support.pages import DOCS, README, ROOT, Block, blocks, commands, pages

PAGES = pages()
QUOTED = ("catalog/", "dashboards/", "docker/", "jobs/", "sql/")
"""Folders of this repository: a block whose title is a file there quotes it word for word."""
MAKEFILE = (ROOT / "Makefile").read_text()


def each_page(function: object) -> object:
    """Run a test for every page."""
    ids = [str(page.relative_to(ROOT)) for page in PAGES]
    return pytest.mark.parametrize("page", PAGES, ids=ids)(function)


def of_language(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of a page that are in one of some languages."""
    return [block for block in blocks(page) if block.language in languages]


@each_page
def test_sql(page: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "headwater.toml").write_text('name = "page"\n')
    defined: list[str] = []
    printed = {a.line: b.text for a, b in pairwise(blocks(page)) if b.language == "text"}
    for block in of_language(page, "sql"):
        if block.title.startswith(QUOTED):  # a part of a file, see test_quotations
            continue
        if block.mark == "grammar":
            with pytest.raises(HeadwaterError):
                parse(block.text, file=str(block))
            continue
        if block.mark.startswith(("new project", "project ")):
            defined = base(block.mark)
        if not re.search(r"^\s*CREATE\b", block.text, re.MULTILINE | re.IGNORECASE):
            parse(block.text, file=str(block))
            continue
        (tmp_path / "page.sql").write_text("\n".join([*defined, block.text]))
        code = main(["--project", str(tmp_path), "check"])
        said = capsys.readouterr().err
        if block.mark.startswith("refused "):
            condition = block.mark.split()[1]
            assert code == EXIT_NO, f"{block} is not refused"
            assert condition in said, f"{block}: {said}"
            assert_printed(printed.get(block.line, ""), said, block)
        else:
            assert code == EXIT_OK, f"{block}: {said}"
            defined.append(block.text)


def base(mark: str) -> list[str]:
    """Return the definitions that a page begins with at a mark."""
    _, folder = mark.split()
    return [file.read_text() for file in sorted((ROOT / folder).glob("*.sql"))]


def assert_printed(text: str, said: str, block: Block) -> None:
    """Assert that an error shown on a page is the one that came out, wherever its file is."""
    place = re.compile(r"\S+:\d+:\d+ ")
    lines = {place.sub("", line).strip() for line in said.splitlines()}
    for line in filter(str.strip, text.splitlines()):
        assert place.sub("", line).strip() in lines, f"{block}: {line!r} is not in\n{said}"


@each_page
def test_settings(page: Path, tmp_path: Path) -> None:
    for block in of_language(page, "toml"):
        (tmp_path / "headwater.toml").write_text(block.text)
        try:
            load_config(tmp_path, environ={})
        except ConfigError as error:
            assert block.mark == f"refused {error.condition}", f"{block}: {error}"
        else:
            assert not block.mark.startswith("refused"), f"{block} is not refused"


@each_page
def test_commands(page: Path) -> None:
    for block in of_language(page, "sh", "bash"):
        for command in commands(block.text):
            check_command(command, block)


def check_command(command: list[str], block: Block) -> None:
    """Assert that a command of ours exists, with its options."""
    program, *words = command
    match Path(program).name:
        case "headwater":
            check_headwater(cli, words, block)
        case "make":
            check_make(words, block)
        case "python" | "python3":
            if words[:1] == ["-m"] and words[1].partition(".")[0] in (
                "headwater",
                "docker",
                "jobs",
            ):
                module = ROOT / words[1].replace(".", "/")
                assert module.is_dir() or module.with_suffix(".py").exists(), f"{block}: {command}"
            elif words and words[0].startswith(QUOTED):
                assert (ROOT / words[0]).exists(), f"{block}: {command}"
        case "spark-submit":
            jobs = [word for word in words if word.endswith(".py")]
            assert jobs and all((ROOT / job).exists() for job in jobs), f"{block}: {command}"
        case "docker":
            files = [after for word, after in pairwise(words) if word == "--file"]
            assert all((ROOT / file).exists() for file in files), f"{block}: {command}"


def check_headwater(command: click.Command, words: list[str], block: Block) -> None:
    """Walk from a group to its command, and hold the words against its options and arguments."""
    # click remembers a command's help option from the first context that asks for it
    context = click.Context(command, **cli.context_settings)
    asked = bool({"-h", "--help", "--version"} & set(words))
    try:
        given, rest, _ = command.make_parser(context).parse_args(args=list(words))
    except click.UsageError as error:
        pytest.fail(f"{block}: headwater {' '.join(words)}: {error.format_message()}")
    if isinstance(command, click.Group):
        inner = command.get_command(context, rest[0]) if rest else None
        assert inner is None or not inner.hidden, f"{block}: {rest[0]} does not work yet"
        assert inner or asked, f"{block}: there is no command {' '.join(words)}"
        if inner:
            check_headwater(inner, rest[1:], block)
        return
    assert not rest, f"{block}: {rest} is too much for {command.name}"
    for parameter in command.params:
        value = given.get(parameter.name)
        if isinstance(parameter, click.Argument) and parameter.required and not asked:
            assert value is not None, f"{block}: {command.name} needs {parameter.name}"
        if value is not None and isinstance(parameter.type, click.Choice):
            assert value in parameter.type.choices, f"{block}: {value} is no {parameter.name}"
        if command.name == "sql" and parameter.name == "query" and isinstance(value, str):
            for statement in [*cut(f"{value};")[0]]:
                if statement.split()[0].upper() not in ("SHOW", "DESCRIBE"):
                    parse(statement, file=str(block))


def check_make(words: list[str], block: Block) -> None:
    """Assert that targets and variables are in the Makefile."""
    for word in words:
        name, is_variable, _ = word.partition("=")
        form = rf"\$\([^)]*\b{name}\b|^{name} \?=" if is_variable else rf"^{name}:"
        assert re.search(form, MAKEFILE, re.MULTILINE), f"{block}: make {word}"


@each_page
def test_quotations(page: Path) -> None:
    for block in blocks(page):
        if block.title.startswith(QUOTED):
            assert block.text in (ROOT / block.title).read_text(), f"{block} differs from its file"


@each_page
def test_other_languages(page: Path) -> None:
    for block in blocks(page):
        match block.language:
            case "python":
                compile(block.text, str(block), "exec")
            case "json":
                json.loads(block.text)
            case "yaml":
                list(YAML(typ="safe").load_all(block.text))
            case "slt":
                parse_slt(block.text, str(block))


@each_page
def test_marks_are_known_and_languages_are_given(page: Path) -> None:
    known = re.compile(
        r"grammar|new project|project sql/\w+|refused [A-Z_]+|setup|printed|exits 1|"
    )
    for block in blocks(page):
        assert known.fullmatch(block.mark), f"{block}: {block.mark}"
        assert block.language, f"{block}: write text behind the backticks"


def test_links_of_the_readme_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", README.read_text())
    assert links
    gone = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert gone == []


def test_readme_is_short() -> None:
    assert len(README.read_text().splitlines()) <= 150


def test_the_readme_asks_for_what_the_quickstart_explains() -> None:
    first = next(b.text for b in of_language(README, "sh") if "headwater init" in b.text)
    quickstart = (DOCS / "quickstart.md").read_text()
    asked = [line.split(" #")[0].strip() for line in first.splitlines()]
    assert "headwater verify" in asked
    assert [line for line in asked if line not in quickstart] == []


def test_the_readme_names_two_commands_that_need_nothing_before_them() -> None:
    section = README.read_text().partition("## Quickstart")[2].partition("\n## ")[0]
    assert re.search(r"make demo .*\nmake test ", section)
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test"):
        assert re.search(rf"^{target}: setup\b", makefile, re.M)


def test_the_quickstart_shows_the_project_that_init_makes() -> None:
    template = ROOT / "headwater" / "cli" / "template"
    shown = [b for b in blocks(DOCS / "quickstart.md") if (template / b.title).is_file()]
    assert {block.title for block in shown} == {"sources.sql", "views.sql"}
    for block in shown:
        assert block.text in (template / block.title).read_text(), f"{block} differs"
