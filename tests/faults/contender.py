"""One of two processes that commit to the same table: does what it is told, a JSON line at a time.

    python -m tests.faults.contender FOLDER STATE FORMAT [URI]

Every command is answered by one line, or by more where it says so; what Spark prints goes
elsewhere.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from headwater.config.settings import Config, RunSection, Secret
from headwater.errors import HeadwaterError
from headwater.lake.catalog import Lake
from headwater.lake.delta.table import DeltaTable
from headwater.lake.protocol.commit import Outcome, commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table, Target
from headwater.lake.spec import TableSpec
from headwater.runtime.lease import Lease
from headwater.runtime.session import open_session
from headwater.runtime.spark_requirements import DELTA

VIEW = "raced"
ROWS = 3
"""Rows of each epoch; each says which contender wrote it."""


def settings(folder: Path, state: str, uri: str | None) -> Config:
    """The project of the race; both contenders have their own state folder."""
    return Config(
        directory=folder,
        name="race",
        namespace="race",
        warehouse=folder / "warehouse",
        state=folder / state,
        master="local[1]",
        spark={"spark.driver.memory": "600m"},
        run=RunSection(
            shuffle_partitions=1,
            lease=timedelta(seconds=float(os.environ.get("RACE_LEASE", "1.5"))),
        ),
        catalog="jdbc" if uri else "embedded",
        catalog_uri=Secret(uri) if uri else None,
    )


def marker(epoch: int, token: int) -> Marker:
    """The marker of an epoch of the raced view; both contenders have the same input."""
    begin = {"in": str(epoch)} if epoch else {}
    return Marker(VIEW, 1, epoch, begin, {"in": str(epoch + 1)}, token=token)


class Contender:
    """Keeps a session, and the lease if it was told to take it."""

    def __init__(
        self, config: Config, format_: str, name: str, say: Callable[..., None], hear: Callable
    ) -> None:
        self._config, self._name, self._say, self._hear = config, name, say, hear
        self._lease: Lease | None = None
        delta = format_ == "delta"
        self._lake = Lake(
            open_session(config, app_name=name, further=(DELTA,) if delta else ()), config.namespace
        )
        self._make = self._lake.ensure_delta if delta else self._lake.ensure
        self._table: Table | None = None

    def ensure(self) -> None:
        """Create the table."""
        self._make(TableSpec(VIEW, (("epoch", "INT", True), ("writer", "STRING", True))))
        self._say(end="ensured")

    def acquire(self) -> None:
        """Wait for "go", take the lease; answers its token and how long it took."""
        self._say(ready=True)
        self._hear()
        began = time.monotonic()
        try:
            self._lease = Lease.acquire(self._config)
            self._say(end="acquired", token=self._lease.token, seconds=time.monotonic() - began)
        except HeadwaterError as error:
            self._say(end=error.condition, message=error.message)

    def release(self) -> None:
        """Give the lease back."""
        if self._lease:
            self._lease.release()
        self._lease = None
        self._say(end="released")

    def commit(
        self, epoch: int, token: int, fresh: bool, fence: bool = False, pause: str = ""
    ) -> None:
        """Wait for "go" and commit an epoch; with a pause, wait for "go" once more before or after
        the write, having said so.
        """
        if fresh or self._table is None:
            self._table = self._lake.written(VIEW)
            if isinstance(self._table, DeltaTable):  # only the other one has created it
                self._lake.define_delta(self._table)
        table = self._table
        assert table
        self._say(ready=True)
        self._hear()

        def write(target: Target) -> None:
            if pause == "before":
                self._pause()
            rows = ", ".join([f"({epoch}, '{self._name}')"] * ROWS)
            query = f"SELECT epoch, writer FROM VALUES {rows} AS t (epoch, writer)"
            target.append(self._lake.spark.sql(query))
            if pause == "after":
                self._pause()

        try:
            done = commit(
                table, marker(epoch, token), write,
                session=self._lake.spark, fence=self._lease if fence else None,
            )  # fmt: skip
            self._say(end=done.value)
        except HeadwaterError as error:
            self._say(end=error.condition, message=error.message)
        except Exception as error:
            self._say(end=type(error).__name__, message=traceback.format_exc()[-3000:])

    def _pause(self) -> None:
        self._say(paused=True)
        self._hear()

    def measure(self, epochs: int) -> None:
        """Answer the medians of a plain append and of a commit, in milliseconds."""
        lake = self._lake
        columns = (("epoch", "INT", True), ("writer", "STRING", True))
        plain, staged = (self._make(TableSpec(name, columns)) for name in ("plain", "staged"))
        rows = lake.spark.range(1000).selectExpr("CAST(id AS INT) AS epoch", "'x' AS writer")
        spent: dict[str, list[float]] = {"plain": [], "staged": []}
        for epoch in range(epochs):
            began = time.perf_counter()
            rows.writeTo(plain.identifier).append()
            spent["plain"].append(time.perf_counter() - began)
            cut = {"in": str(epoch)} if epoch else {}
            next_ = Marker("staged", 1, epoch, cut, {"in": str(epoch + 1)}, token=1)
            began = time.perf_counter()
            done = commit(
                staged, next_, lambda target: target.append(rows),
                session=lake.spark, fence=self._lease,
            )  # fmt: skip
            spent["staged"].append(time.perf_counter() - began)
            assert done is Outcome.COMMITTED
        warm = {name: sorted(times[epochs // 4 :]) for name, times in spent.items()}
        self._say(**{name: 1000 * statistics.median(times) for name, times in warm.items()})


def main(arguments: list[str]) -> None:
    """Obey until the end of the input."""
    folder, state, format_, uri = Path(arguments[0]), *arguments[1:3], (*arguments[3:], None)[0]
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(**what: Any) -> None:
        out.write(json.dumps(what) + "\n")

    def hear() -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        return json.loads(line)

    contender = Contender(settings(folder, state, uri), format_, state, say, hear)
    say(end="started")
    while True:
        command = hear()
        getattr(contender, command.pop("do"))(**command)


if __name__ == "__main__":
    main(sys.argv[1:])
