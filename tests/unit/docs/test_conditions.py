"""Every condition that can be raised is explained, and nothing else is."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from headwater.cli.main import cli
from headwater.errors.catalogue import FAMILIES, FOLDER, Explanation, explanations
from tests.unit.docs.raised import raised

ROOT = Path(__file__).parents[3]
PACKAGE, REFERENCE = ROOT / "headwater", ROOT / "docs" / "reference"
LONGEST = 25
"""Words of a sentence."""


def test_every_condition_that_is_raised_is_in_the_catalogue() -> None:
    unknown = {
        name: places for name, places in raised(PACKAGE).items() if name not in explanations()
    }
    assert not unknown, f"write cause and remedy into {FOLDER}"


def test_the_catalogue_has_nothing_that_is_not_raised() -> None:
    assert sorted(set(explanations()) - set(raised(PACKAGE))) == []


def test_every_file_of_conditions_is_a_family() -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(FAMILIES)


@pytest.mark.parametrize("entry", explanations().values(), ids=lambda each: each.condition)
def test_causes_and_remedies_are_short_sentences(entry: Explanation) -> None:
    for text in (entry.cause, entry.remedy):
        assert text[0].isupper() or text[0] == "`"
        assert text[-1] == "."
        plain = re.sub(r"`[^`]*`|\([^)]*\)", "X", text)
        long = [each for each in re.split(r"(?<=[.!?])\s+", plain) if len(each.split()) > LONGEST]
        assert not long


@pytest.mark.parametrize("entry", explanations().values(), ids=lambda each: each.condition)
def test_commands_and_pages_that_it_names_exist(entry: Explanation) -> None:
    for text in (entry.cause, entry.remedy):
        for words in re.findall(r"`headwater ([^`]+)`", text):
            command: click.Command = cli
            options: set[str] = set()
            for word in words.split():
                if isinstance(command, click.Group):
                    command = command.commands[word]
                    options = {name for each in command.params for name in each.opts}
                elif word.startswith("--"):
                    assert word in options, words
        for link in re.findall(r"\]\(([^)#]+)", text):
            assert (REFERENCE / link).is_file(), link


def test_what_nobody_can_read_from_the_code_is_found(tmp_path: Path) -> None:
    module = tmp_path / "package" / "module.py"
    module.parent.mkdir()
    module.write_text(
        "class HeadwaterError(Exception):\n"
        "    def __init__(self, condition: str, message: str) -> None: ...\n"
        "class Mine(HeadwaterError): ...\n"
        "def refused(what: str, condition: str) -> Mine:\n"
        "    return Mine(condition, what)\n"
        "TABLE = ('DISK_FULL', 'DISK_GONE')\n"
        "def f(x):\n"
        "    refused('x', 'TOO_LATE')\n"
        "    raise Mine(TABLE[x] if x else 'CYCLE', 'y')\n"
        "def g(x):\n"
        "    raise Mine(f'DUPLICATE_{x}', 'y')\n"
    )
    assert raised(module.parent) == {
        "TOO_LATE": ["package/module.py:8"],
        "DISK_FULL": ["package/module.py:9"],
        "DISK_GONE": ["package/module.py:9"],
        "CYCLE": ["package/module.py:9"],
        "": ["package/module.py:11"],
    }
