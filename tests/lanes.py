"""Which Spark tests run in the fast lane: ``fast.toml`` lists them by the risk that they cover.

A run of ``make test-spark`` takes one test of each risk; they take turns by the number of commits.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

from tests.support.sampling import some

HERE = Path(__file__).parent
SLT = re.compile(r"slt/test_slt\.py::test_slt\[(.+)\]")


@cache
def fast() -> dict[str, dict[str, list[str]]]:
    """Return the entries of the fast lane: by kind of risk, by risk."""
    return tomllib.loads((HERE / "fast.toml").read_text(encoding="utf-8"))


def _risks() -> list[list[str]]:
    return [tests for risks in fast().values() for tests in risks.values()]


@cache
def entries() -> frozenset[str]:
    """Return every entry of the fast lane."""
    return frozenset(each for tests in _risks() for each in tests)


@cache
def entries_in_turn() -> frozenset[str]:
    """Return the entries that this run takes."""
    return frozenset(each for tests in _risks() for each in some(tests, len(tests)))


def is_fast(node: str, among: frozenset[str] | None = None) -> bool:
    """Return whether a Spark test is in the fast lane.

    Args:
        node: its id for pytest, ``tests/spark/…::test_name[parameters]``.
        among: the entries to look among; all, if not given.
    """
    listed = entries() if among is None else among
    path = node.removeprefix("tests/")
    if found := SLT.fullmatch(path):
        return f"slt/{found[1]}" in listed
    test = path.partition("[")[0]
    return not {path, test, test.partition("::")[0]}.isdisjoint(listed)
