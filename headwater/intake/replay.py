"""Replay: rows of a landed table's quarantine are decoded again, by the definition as it is now.

In: a landing whose quarantine holds rows. Out: an epoch of the table with those that are good now,
with their coordinates and a new arrival and watermark (lateness is data: they arrive now); the
others stay, with their newest reason. See ``headwater.intake.quarantine`` for the order of the two
commits. Files that went to the quarantine whole are read again, each landed like any other file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own convention

from headwater.connectors.contract import HasLedger, Redecodable, Rows
from headwater.connectors.datagen import now_micros
from headwater.connectors.ledger import LedgerEntry
from headwater.errors import ConfigError, ServiceError
from headwater.formats.columns import BAD, KEPT_OF_LONG_RECORD
from headwater.intake.land import Landing
from headwater.intake.quarantine import REPLAYED
from headwater.lake.protocol.table import Target

_CUT = f"octet_length(raw) = {KEPT_OF_LONG_RECORD} AND reason LIKE 'record of %'"
"""Rows of which only the beginning was kept."""
_WHOLE_FILE = "_row IS NULL"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did, or with a dry run would do.

    Attributes:
        table: name of the landed table.
        waiting: rows in the quarantine before; a whole file is one.
        landed: rows that are in the table now.
        refused: rows that were decoded and are still bad.
        untouched: rows and files that could not be decoded again.
        files: whole files that were read again.
        gone: whole files that are not there any more.
    """

    table: str
    waiting: int
    landed: int = 0
    refused: int = 0
    untouched: int = 0
    files: int = 0
    gone: tuple[str, ...] = ()


def replay(landing: Landing, *, dry_run: bool = False) -> Replayed:
    """Decode the quarantine of a landed table again.

    Args:
        landing: the landing; an epoch that it has begun is finished first.
        dry_run: only count.

    Raises:
        ConfigError: ``REPLAY_NOT_POSSIBLE``, ``REPLAY_NOT_EXACT``.
        ServiceError: ``REPLAY_NOT_STABLE``; what landing raises.
    """
    name = landing.source.name
    connector = landing.connector
    if not isinstance(connector, Redecodable):
        raise ConfigError(
            "REPLAY_NOT_POSSIBLE",
            f'the rows of "{name}" have no bytes to decode again: the connector generates them',
            hint="correct the definition; later rows will be good",
        )
    if not dry_run:
        landing.finish_begun()
    quarantine = landing.quarantine()
    quarantine.refresh()
    rows = quarantine.read(quarantine.snapshot_id())
    waiting, whole = _counted(rows)
    if not waiting:
        return Replayed(name, 0)
    readable = rows.where(f"NOT ({_WHOLE_FILE}) AND raw IS NOT NULL AND NOT ({_CUT})")
    seen = bad = 0
    if waiting > len(whole) and landing.source.encode == "parquet":
        if not whole:
            raise _not_exact(name)
    elif waiting > len(whole):
        arrived_at = now_micros()
        decoded = connector.decode_quarantined(landing.spark, readable, arrived_at)
        if dry_run:
            seen, bad = _judged(decoded)
        else:
            seen, bad = _land(landing, decoded, quarantine.snapshot_id(), arrived_at)
    entries = connector.stat_files(whole) if isinstance(connector, HasLedger) else []
    gone = tuple(sorted(set(whole) - {entry.file for entry in entries}))
    untouched = waiting - len(whole) - seen + len(gone)
    done = Replayed(name, waiting, seen - bad, bad, untouched, len(entries), gone)
    return _read_files(landing, entries, done, dry_run=dry_run)


def _counted(rows: DataFrame) -> tuple[int, list[str]]:
    """How many rows there are, and which whole files are among them."""
    files = [row[0] for row in rows.where(_WHOLE_FILE).select("_path").distinct().collect()]
    return rows.count(), files


def _judged(rows: Rows) -> tuple[int, int]:
    found = rows.all.select(F.count("*"), F.count_if(BAD)).first()
    assert found is not None
    return found[0], found[1]


def _land(landing: Landing, rows: Rows, snapshot: int, arrived_at: int) -> tuple[int, int]:
    """Land the good rows and settle the quarantine; nothing is committed if none is good."""
    seen, bad = _judged(rows)
    if seen == bad and not _other_reasons(landing, rows):
        return seen, bad
    cut = {landing.quarantine().name: str(snapshot)}
    counts = {REPLAYED: seen - bad}
    marker = replace(landing.next_marker(cut), counts=counts)

    def write(target: Target) -> None:
        done = landing.append(rows, target, marker, arrived_at)
        if (done.seen, done.bad) != (seen, bad):
            raise _judged_otherwise(landing.source.name, (seen, bad), (done.seen, done.bad))

    landing.commit(marker, write)
    landing.settle_quarantine(rows.rejected() if bad else None)
    return seen, bad


def _other_reasons(landing: Landing, rows: Rows) -> bool:
    quarantine = landing.quarantine()
    before = quarantine.read(quarantine.snapshot_id()).select("_path", "_row", "reason")
    return not rows.rejected().select("_path", "_row", "reason").exceptAll(before).isEmpty()


def _read_files(
    landing: Landing, entries: Sequence[LedgerEntry], done: Replayed, *, dry_run: bool
) -> Replayed:
    if not entries:
        return done
    if dry_run:
        return replace(done, untouched=done.untouched + len(entries), files=0)
    result = landing.read_again(entries)
    return replace(
        done,
        landed=done.landed + result.rows_out,
        refused=done.refused + result.quarantined + result.dropped,
    )


def _not_exact(name: str) -> ConfigError:
    return ConfigError(
        "REPLAY_NOT_EXACT",
        f'quarantined rows of Parquet files are JSON, which lacks values that "{name}" reads',
        hint="correct the rows in a new file of the folder",
    )


def _judged_otherwise(
    name: str, counted: tuple[int, int], written: tuple[int, int]
) -> ServiceError:
    """A file whose header is asked for was changed between the two looks, most likely."""
    return ServiceError(
        "REPLAY_NOT_STABLE",
        f'the quarantine of "{name}" was decoded twice with different results: {counted[1]} of '
        f"{counted[0]} rows were bad, then {written[1]} of {written[0]}; nothing was changed",
        hint="start the replay again; if it happens again, report it as a bug",
    )
