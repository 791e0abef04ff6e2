"""No test measures time or sleeps: it counts, or waits for what it waits for.

`tests/support/waiting.py` waits and stands in for a clock, `tests/support/steps.py` counts what
something costs. Figures in seconds are those of `make bench-…`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = re.compile(
    r"(?:monotonic|perf_counter|process_time|thread_time|clock_gettime|sleep)(?:_ns)?"
    r"|getrusage|timeit|default_timer|sleep_ms"
)
IN_TEXT = re.compile(rf"(?<![\w.])time\.(?:{CLOCKS.pattern})\b")
ALLOWED = {
    "support/waiting.py": "it waits for all tests",
    "faults/": "kills at moments that chance chooses, and says how far it came",
    "fuzz/": "says how far it came",
}
"""Files and folders that may, and why."""
NOW = {"time", "time_ns", "now", "utcnow", "today"}


def clocks(text: str) -> Iterator[int]:
    """Yield the lines at which a program reads a clock that measures, sleeps, or asserts a time."""
    tree = ast.parse(text)
    modules = {
        each.asname or each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for each in node.names
        if each.name in ("time", "resource", "timeit", "asyncio")
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=what) if (
                name in modules and CLOCKS.fullmatch(what)
            ):
                yield node.lineno
            case ast.ImportFrom(module="time" | "timeit" | "resource" | "asyncio"):
                if any(CLOCKS.fullmatch(each.name) for each in node.names):
                    yield node.lineno
            case ast.Constant(value=str(words)) if IN_TEXT.search(words):
                yield node.lineno
            case ast.Assert(test=test) if any(_is_difference(each) for each in ast.walk(test)):
                yield node.lineno


def _is_difference(node: ast.AST) -> bool:
    """Whether a time that has passed is computed: now without a moment before."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _is_now(node.left)


def _is_now(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="time" | "datetime"), attr=name)):
            return name in NOW
    return False


@pytest.mark.parametrize(
    "text",
    [
        "import time\ntime.sleep(1)",
        "import time as t\nt.process_time()",
        "from time import perf_counter",
        "import time\nfield(default_factory=time.monotonic)",
        "CODE = 'import time; time.sleep(60)'",
        "import time\nassert time.time() - began < 5",
        "from datetime import datetime\nassert datetime.now(UTC) - began < timedelta(seconds=5)",
        "import resource\nresource.getrusage(0)",
        "import asyncio\nawait_ = asyncio.sleep(1)",
    ],
)
def test_a_clock_is_seen(text: str) -> None:
    assert [*clocks(text)]


@pytest.mark.parametrize(
    "text",
    [
        "import time\nbefore = time.time() - 86400",
        "monkeypatch.setattr(module.time, 'monotonic', lambda: now)",
        "assert process.wait(60) == 0",
        "import time\nwait_for(lambda: time.time() > written, 'a later second')",
    ],
)
def test_what_measures_nothing_is_let_be(text: str) -> None:
    assert not [*clocks(text)]


def test_no_test_measures_time_or_sleeps() -> None:
    found = [
        f"{name}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if not (name := path.relative_to(TESTS).as_posix()).startswith(
            (*ALLOWED, "unit/test_clocks")
        )
        for line in clocks(path.read_text(encoding="utf-8"))
    ]
    assert not found, "count, or use wait_for of tests/support/waiting.py"


def test_what_may_measure_time_is_there_and_does() -> None:
    for name in ALLOWED:
        place = TESTS / name
        files = place.rglob("*.py") if place.is_dir() else [place]
        assert any([*clocks(each.read_text(encoding="utf-8"))] for each in files), name
