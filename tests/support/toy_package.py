"""Installs the package ``support/toy`` for one test: its entry points are found, then forgotten."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from headwater.analyze.connectors import registered
from headwater.analyze.connectors.encodings import ENCODINGS
from headwater.analyze.connectors.registry import CONNECTORS, SINKS

TOY = Path(__file__).parent / "toy"


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Python find the package until the test ends."""
    for table in (CONNECTORS, SINKS, ENCODINGS):
        monkeypatch.setattr(table, "_entries", dict(table.loaded))
    monkeypatch.syspath_prepend(str(TOY))
    fresh = cache(registered.entry_points_of.__wrapped__)
    monkeypatch.setattr(registered, "entry_points_of", fresh)
