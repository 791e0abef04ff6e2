"""What a project's Spark is started with."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.project import load_project
from headwater.runtime.supervisor import Supervisor

KAFKA = (
    "WITH (connector = 'kafka', topic = 'x', bootstrap_servers = 'a:1') FORMAT PLAIN ENCODE JSON"
)
FILES = "WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON"


@pytest.mark.parametrize(
    ("definitions", "jars"),
    [
        (f"CREATE TABLE t (id BIGINT) {FILES}; CREATE STREAMING VIEW v AS SELECT id FROM t", ()),
        (f"CREATE TABLE t (id BIGINT) {KAFKA}", ("kafka",)),
        (
            f"CREATE SOURCE t (id BIGINT) {KAFKA}; CREATE STREAMING VIEW v AS SELECT id FROM t",
            ("kafka",),
        ),
        (f"CREATE SOURCE t (id BIGINT) {KAFKA}", ()),  # nobody reads it
    ],
)
def test_spark_has_the_jars_of_what_is_read(
    tmp_path: Path, definitions: str, jars: tuple[str, ...]
) -> None:
    (tmp_path / "headwater.toml").write_text('name = "t"\n')
    (tmp_path / "views.sql").write_text(definitions + ";")
    assert Supervisor(load_project(tmp_path)).jars == jars
