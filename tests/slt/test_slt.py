"""Every ``.slt`` file below this folder; HEADWATER_REWRITE_GOLDEN=1 writes its expected results."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.testing.harness import run_file

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.slt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_slt(path: Path, spark: SparkSession) -> None:
    rewrite = os.environ.get("HEADWATER_REWRITE_GOLDEN") == "1"
    failures = run_file(path, spark, rewrite=rewrite)
    if failures:
        pytest.fail("\n\n".join(map(str, failures)), pytrace=False)
