"""Pages whose commands are run as they are written, and have to print what the page shows.

In: a page. Out: its shell blocks, run one after the other in one shell in an empty folder; each is
compared with the ``text`` block right below it. SQL files that the page shows are written between.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from headwater.machine.java import find_java
from tests.support.pages import ROOT, Block, blocks

TEMPLATE = ROOT / "headwater" / "cli" / "template"
TIMEOUT = 600  # seconds; a quiet machine needs a tenth
MARK = "==== block"


def execute(page: Path, folder: Path) -> list[str]:
    """Run a page, and return where it prints something else than it shows.

    Args:
        page: the page.
        folder: an empty folder.
    """
    found = [block for block in blocks(page) if block.mark != "setup"]
    script = ["set -euo pipefail"]
    expected: list[str] = []
    for block, after in pairwise([*found, None]):
        assert block is not None
        if block.language == "sh":
            script += [f"echo '{MARK}'", _exits(block)]
            expected.append(after.text if after and after.language == "text" else "…")
        elif block.language == "sql" and not (TEMPLATE / block.title).exists():
            script.append(written(block))
    printed = run("\n".join(script), folder).split(MARK)[1:]
    assert len(printed) == len(expected) > 6
    return [
        f"expected\n{shown}\nbut it printed\n{came}"
        for shown, came in zip(expected, printed, strict=True)
        if not re.search(pattern(shown), simple(came))
    ]


def _exits(block: Block) -> str:
    """A command that the page says exits with 1."""
    return f"if {block.text}; then exit 9; fi" if block.mark == "exits 1" else block.text


def written(block: Block) -> str:
    """Return a command that writes a block into the file that it names, in the current folder."""
    return f"cat > {block.title} <<'END_OF_FILE'\n{block.text}\nEND_OF_FILE"


def run(script: str, folder: Path) -> str:
    """Run a script with `headwater` on its path; return its standard output."""
    programs = folder / "bin"
    programs.mkdir()
    program = programs / "headwater"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m headwater "$@"\n')
    program.chmod(0o755)
    start = folder / "empty"
    start.mkdir()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")},
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "JAVA_HOME": str(find_java().home),
        "COLUMNS": "120",  # of the terminal on whose tables a page stands
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
    }
    process = subprocess.Popen(
        ["bash", "-c", script], cwd=start, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0, f"{out}\n{err}"
    return out


def simple(text: str) -> str:
    """Return a text without rules and without the widths of columns."""
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip("─"))


def pattern(shown: str) -> str:
    """Return a regular expression for what a page shows; … stands for anything within a line."""
    parts = (re.escape(part) for part in simple(shown).split("…"))
    return r"(?m)^" + ".*".join(parts)
