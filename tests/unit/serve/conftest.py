from __future__ import annotations

from pathlib import Path

import pytest
from fake_lake import FakeLake, make_lake


@pytest.fixture
def lake(tmp_path: Path) -> FakeLake:
    return make_lake(tmp_path)
