"""The fenced blocks of a Markdown page, with the marks that say how a test treats them.

A mark is a comment on the line above a block, such as ``<!-- check: refused NO_STREAM_KEY -->``.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.support.golden_files import REWRITE

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"

_FENCE = re.compile(r"^( *)(`{3,})(.*)$")
_MARK = re.compile(r"^\s*<!-- check: (.+?) -->\s*$")
_TITLE = re.compile(r'title="([^"]*)"')
_SEPARATORS = {"|", "||", "&&", ";", "&", ">", ">>", "<"}


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    Attributes:
        page: file that it stands in.
        line: number of its first line of text.
        language: first word after the backticks, empty if there is none.
        title: the text of ``title="…"``, empty if there is none.
        mark: the text of the ``check:`` comment above it, empty if there is none.
        text: its lines, without the indentation of the fence.
    """

    page: Path
    line: int
    language: str
    title: str
    mark: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return README, CONTRIBUTING and every page of docs/, but for records of past decisions."""
    site = (page for page in sorted(DOCS.rglob("*.md")) if page.parent.name != "adr")
    return [README, ROOT / "CONTRIBUTING.md", *site]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    lines = page.read_text(encoding="utf-8").splitlines()
    at, mark = 0, ""
    while at < len(lines):
        fence, found = _FENCE.match(lines[at]), _MARK.match(lines[at])
        at += 1
        if found:
            mark = found[1]
        elif fence is None:
            mark = mark if not lines[at - 1].strip() else ""
        else:
            indent, ticks, words = fence.groups()
            end = next(n for n in range(at, len(lines)) if lines[n].strip() == ticks)
            text = "\n".join(line.removeprefix(indent) for line in lines[at:end])
            title = _TITLE.search(words)
            language = words.split()[0] if words.strip() else ""
            yield Block(page, at + 1, language, title[1] if title else "", mark, text)
            at, mark = end + 1, ""


def commands(script: str) -> Iterator[list[str]]:
    """Yield the commands of a shell script as words, without assignments in front of them."""
    waiting = ""
    for line in script.splitlines():
        waiting += line.removesuffix("\\") + ("" if line.endswith("\\") else "\n")
        if line.endswith("\\"):
            continue
        lexer = shlex.shlex(waiting, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a quotation goes on in the next line
            continue
        waiting = ""
        command: list[str] = []
        for word in [*words, ";"]:
            if word in _SEPARATORS:
                if command:
                    yield command
                command = []
            elif command or not re.match(r"[A-Z_]+=", word):
                command.append(word)
    assert not waiting.strip(), f"a quotation does not end: {waiting}"


def check_printed(page: Path, run: Callable[[Sequence[str]], str]) -> None:
    """Assert that a page shows what its commands print; HEADWATER_REWRITE_GOLDEN=1 rewrites it.

    Args:
        page: with commands in ``sh`` blocks that are marked as printed, each before what it prints.
        run: runs a command of ours, given without its name, and returns what it prints.
    """
    text = page.read_text(encoding="utf-8")
    marked = [block for block in blocks(page) if block.mark == "printed"]
    pairs = [(one, two) for one, two in pairwise(marked) if one.language == "sh"]
    assert pairs
    for command, shown in pairs:
        printed = run(shlex.split(command.text)[1:]).strip("\n")
        if not REWRITE:
            assert printed == shown.text, command.text
            continue
        fence = f"```{shown.language}\n"
        start = text.index(fence, text.index(f"{command.text}\n```")) + len(fence)
        text = f"{text[:start]}{printed}\n{text[text.index('```', start) :]}"
    if REWRITE:
        page.write_text(text, encoding="utf-8")
