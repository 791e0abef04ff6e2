"""Every ``.slt`` file below this folder; HEADWATER_REWRITE_GOLDEN=1 writes its expected results.

After every tick two judges compare each view: ``verify``, and DuckDB with the author's own text.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from headwater.serve.verify import verify
from headwater.testing.harness import run_file
from tests.support.author_judge import AuthorJudge

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.slt"))
ASKED = {
    "operators/every_operator.slt": 1,
    "view/chain.slt": 1,
    "late/silent.slt": 20,
    "late/silent_since.slt": 30,
}
"""How many answers to authors' words some files must have at least."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(HERE)))
def test_slt(path: Path, spark: SparkSession) -> None:
    rewrite = os.environ.get("HEADWATER_REWRITE_GOLDEN") == "1"
    judge = AuthorJudge()
    failures = run_file(path, spark, rewrite=rewrite, judges=(verify, judge))
    if failures:
        pytest.fail("\n\n".join(map(str, failures)), pytrace=False)
    name = str(path.relative_to(HERE))
    assert name not in ASKED or judge.asked >= ASKED[name], judge.reasons
