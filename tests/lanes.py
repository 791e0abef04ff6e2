"""Which Spark tests run in the fast lane: ``fast.toml`` lists them by the risk that they cover."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
SLT = re.compile(r"slt/test_slt\.py::test_slt\[(.+)\]")


@cache
def fast() -> dict[str, dict[str, list[str]]]:
    """Return the entries of the fast lane: by kind of risk, by risk."""
    return tomllib.loads((HERE / "fast.toml").read_text(encoding="utf-8"))


@cache
def entries() -> frozenset[str]:
    """Return every entry of the fast lane."""
    return frozenset(
        each for risks in fast().values() for tests in risks.values() for each in tests
    )


def is_fast(node: str) -> bool:
    """Return whether a Spark test is in the fast lane.

    Args:
        node: its id for pytest, ``tests/spark/…::test_name[parameters]``.
    """
    path = node.removeprefix("tests/")
    if found := SLT.fullmatch(path):
        return f"slt/{found[1]}" in entries()
    test = path.partition("[")[0]
    return not {path, test, test.partition("::")[0]}.isdisjoint(entries())
