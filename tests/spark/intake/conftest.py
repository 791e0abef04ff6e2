"""A project folder with an input folder, and landings of it, each with a session of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.analyze.definitions import Column, Source, Watermark
from headwater.analyze.typing.types import canonical
from headwater.config.settings import RunSection
from headwater.intake.land import Landing
from headwater.lake.catalog import Lake
from headwater.runtime.session import session_for_thread


@dataclass(frozen=True)
class Project:
    """The part of a project's configuration that the intake needs."""

    directory: Path
    run: RunSection = RunSection()

    @property
    def state(self) -> Path:
        return self.directory / "state"


def column(
    name: str,
    kind: str,
    *,
    not_null: bool = False,
    metadata: str | None = None,
) -> Column:
    type_ = canonical(exp.DataType.build(kind, dialect="trino"))
    return Column(name, type_, not not_null, metadata)


def _files_source(
    columns: str,
    name: str = "t",
    *,
    encode: str = "json",
    delay: int | None = None,
    options: Mapping[str, str] | None = None,
    **more: object,
) -> Source:
    """A landed table over the folder ``in``; columns as ``name type [!]``, ``!`` for NOT NULL."""
    defined = []
    for text in columns.split(";"):
        column_name, _, kind = text.strip().partition(" ")
        defined.append(column(column_name, kind.rstrip(" !"), not_null=kind.endswith("!")))
    watermark = Watermark("ts", timedelta(seconds=delay)) if delay is not None else None
    return Source(
        name,
        True,
        tuple(defined),
        "files",
        options={"path": "in", **(options or {})},
        encode=encode,
        watermark=watermark,
        **more,
    )  # type: ignore[arg-type]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "in").mkdir()
    return Project(tmp_path)


@pytest.fixture
def drop(project: Project) -> Callable[..., Path]:
    """Put a file into the folder as a producer does: write beside it, then rename."""

    def put(name: str, content: str | bytes, *, modified: float | None = None) -> Path:
        path = project.directory / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name(f".{path.name}.tmp")
        hidden.write_bytes(content.encode() if isinstance(content, str) else content)
        if modified is not None:
            os.utime(hidden, (modified, modified))
        return hidden.rename(path)

    return put


@pytest.fixture
def landing(spark: SparkSession, lake: Lake, project: Project) -> Callable[..., Landing]:
    """Open a landing as a newly started process would."""

    def open_landing(source: Source, **more: object) -> Landing:
        own = session_for_thread(spark)
        return Landing(own, lake.using(own), source, project, **more)  # type: ignore[arg-type]

    return open_landing


@pytest.fixture
def files_source() -> Callable[..., Source]:
    """Define a landed table over the folder ``in``; see :func:`_files_source`."""
    return _files_source
