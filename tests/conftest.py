"""What all tests share. The Spark session is in tests/spark/conftest.py."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent
MARKERS = {"spark": "spark", "slt": "spark", "services": "services"}
"""Folder of tests → the marker that each test in it gets."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(ROOT).parts[0]
        if folder in MARKERS:
            item.add_marker(MARKERS[folder])
