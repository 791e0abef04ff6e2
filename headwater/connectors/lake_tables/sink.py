"""What sinks into tables share, whatever the table's format: rows, columns, epochs.

In: changes. Out: one commit of the table holds them and the number of their epoch. Rows are written
by the commit protocol of our own tables (:mod:`headwater.lake.protocol.commit`). Whatever others
have committed in between, the epoch is looked for first, and the rows are decided on the table as
it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from headwater.algebra.change import SIGN
from headwater.analyze.definitions import RecordFormat, Sink
from headwater.connectors.sink_contract import DeliveryEpoch, SinkConnector
from headwater.errors import HeadwaterError, ServiceError, TerminalError
from headwater.lake.catalog import Lake
from headwater.lake.iceberg.merge import Before, Upsert, upsert
from headwater.lake.java import active, cached, in_session
from headwater.lake.protocol.commit import commit
from headwater.lake.protocol.history import Commit
from headwater.lake.protocol.marker import Marker
from headwater.lake.protocol.table import Table, Target
from headwater.lake.spec import TableSpec
from headwater.plan.sql.spark_text import name as quoted

ATTEMPTS = 20
"""How often a delivery is tried while others commit to its table: they owe us no pause."""

_NOT_NULL = " NOT NULL"
_SOURCE, _AFTER, _GONE = "__delivered", "__after", "__gone"
_AGAIN = "give the sink another name and table; it then delivers the whole view"


class TableOutlet(SinkConnector):
    """The table of one sink.

    Args:
        directory: where relative paths of options start.
    """

    def __init__(self, sink: Sink, directory: Path) -> None:
        self._sink = sink
        self._lake: Lake
        self._session: SparkSession
        self._target: Table
        self._kinds: Mapping[str, str] = {}

    def open(self, lake: Lake) -> None:
        """See :meth:`SinkConnector.open`: nothing is asked of the table yet."""
        self._lake, self._session = lake, lake.spark
        held = lake.readable(self._sink.view).columns()
        self._kinds = {each.name: held[each.name] for each in self._sink.fields}

    @property
    def _who(self) -> str:
        """Who delivers, in the markers of the table: sinks of several projects may share one."""
        return f"{self._lake.namespace}.{self._sink.name}"

    def deliver(self, changed: DataFrame, epoch: DeliveryEpoch) -> None:
        """See :meth:`SinkConnector.deliver`: an epoch that the table has is not written again."""
        marker = replace(epoch.marker, view=self._who)
        with self._failing(), active(self._session):
            self._check_epochs(self._target.newest(self._who), marker)
            commit(
                self._target,
                marker,
                partial(self._write, changed),
                session=self._session,
                fence=epoch.fence,
                attempts=ATTEMPTS,
            )

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Say of what fails inside the block whose catalog or store it is."""
        yield

    # -- the table

    def _spec(self, name: str) -> TableSpec:
        """What a table that is made for the sink looks like: the view."""
        columns = ((each, kind.removesuffix(_NOT_NULL), True) for each, kind in self._kinds.items())
        return TableSpec(
            name,
            tuple(columns),
            comment=self._sink.comment,
            column_comments={each.name: each.comment for each in self._sink.fields},
        )

    def _check_columns(self) -> None:
        """Refuse a table whose columns are not those of the view, in whatever order."""
        held, table, view = self._target.columns(), self._target.name, self._sink.view
        for column, kind in self._kinds.items():
            found = held.get(column)
            if found is None:
                raise self._unlike(f'table "{table}" has no column "{column}" ({kind})')
            if found not in (kind, kind.removesuffix(_NOT_NULL)):
                what = f'column "{column}" of table "{table}" is {found}, in "{view}" {kind}'
                raise self._unlike(what)
        if further := [column for column in held if column not in self._kinds]:
            raise self._unlike(f'column "{further[0]}" of table "{table}" is not in "{view}"')

    def _check_epochs(self, newest: Commit | None, marker: Marker) -> None:
        """Refuse a table that lacks what was delivered, or holds what this sink did not deliver."""
        held = newest.marker if newest else None
        if (held.epoch if held else -1) < marker.epoch - 1:
            raise self._refused("TABLE_ROLLED_BACK", "lacks what this sink has delivered into it")
        if held is None or _follows(held, marker) or _is_same(held, marker):
            return
        raise self._refused(
            "TABLE_TAKEN",
            f"holds deliveries of {self._who} that this project does not know: another project made"
            " them, or the lake was restored from an older copy",
        )

    # -- the rows

    def _write(self, changed: DataFrame, into: Target) -> None:
        if self._sink.format is RecordFormat.PLAIN:
            into.append(in_session(changed.drop(SIGN), self._session))
            return
        keys = self._sink.key or ()
        columns = [each.name for each in self._sink.fields]
        rows = in_session(_net(changed, keys, columns), self._session)
        change = Upsert(
            _SOURCE,
            keys,
            {each: f"s.{quoted(each)}" for each in columns if each not in keys},
            {each: f"s.{quoted(each)}" for each in columns},
            delete_when=f"s.{_GONE}",
            insert_when=f"NOT s.{_GONE}",
        )
        with ExitStack() as opened:
            cached(rows, opened).createOrReplaceTempView(_SOURCE)
            upsert(self._session, into, change, Before.of(self._target))

    # -- what goes wrong

    def _missing(self) -> HeadwaterError:
        what = f'table "{self._target.name}" of sink "{self._sink.name}" does not exist any more'
        return self._service("TABLE_NOT_FOUND", what, f"bring it back, or {_AGAIN}")

    def _service(self, condition: str, what: str, hint: str) -> HeadwaterError:
        return ServiceError(condition, what, hint=hint, span=self._sink.span)

    def _refused(self, condition: str, what: str) -> TerminalError:
        said = f'table "{self._target.name}" of sink "{self._sink.name}" {what}'
        return TerminalError(condition, said, hint=_AGAIN, span=self._sink.span)

    def _unlike(self, what: str) -> TerminalError:
        hint = "give the table the columns of the view, and start again; or another table"
        said = f'sink "{self._sink.name}": {what}'
        return TerminalError("SCHEMA_CHANGED", said, hint=hint, span=self._sink.span)


def _net(changed: DataFrame, keys: tuple[str, ...], columns: list[str]) -> DataFrame:
    """Return for each key that differs its present row, or the key alone if the row is gone."""
    # SQL compares keys as a table does: -0.0 is 0.0 and NaN is NaN.
    view = "__changed"
    changed.createOrReplaceTempView(view)
    listed = ", ".join(map(quoted, keys))
    row = f"struct({', '.join(map(quoted, columns))})"
    net = changed.sparkSession.sql(
        f"SELECT {f'{listed}, ' if keys else ''}"
        f"first({row}) FILTER (WHERE {SIGN} > 0) AS {_AFTER} FROM {view}"
        f"{f' GROUP BY {listed}' if keys else ''} HAVING count(*) > 0"
    )
    values = [
        each if each in keys else f"{_AFTER}.{quoted(each)} AS {quoted(each)}" for each in columns
    ]
    return net.selectExpr(*values, f"{_AFTER} IS NULL AS {_GONE}")


def _follows(held: Marker, marker: Marker) -> bool:
    return held.epoch == marker.epoch - 1 and dict(held.cut_to) == dict(marker.cut_from)


def _is_same(held: Marker, marker: Marker) -> bool:
    found = (held.epoch, dict(held.cut_from), dict(held.cut_to))
    return found == (marker.epoch, dict(marker.cut_from), dict(marker.cut_to))
