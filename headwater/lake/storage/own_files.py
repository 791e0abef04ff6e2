"""The last line of defence: which files a lake may write, and which it may delete.

In: addresses, and the warehouse of the lake. Out: an error, or the addresses that may be deleted.
Whatever a catalog, a link or metadata says, nothing outside the warehouse is written or deleted.
A file that no snapshot knows is deleted only if its name is one that this lake's writers give: a
person's notes and the files of other engines stay.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable

from headwater.errors import TerminalError
from headwater.lake.storage.places import inside, plain_address

log = logging.getLogger(__name__)

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ICEBERG = re.compile(
    # partition, task, query, perhaps its epoch, number: as Spark's writers name them
    rf"(?:.*/)?\d{{5}}-\d+-{_UUID}(?:-\d+)?-\d{{5}}(?:-deletes)?\.(?:parquet|puffin)"
    rf"|metadata/(?:{_UUID}-m\d+|snap-\d+-\d+-{_UUID}|optimized-m-{_UUID})\.avro"
    rf"|metadata/\d{{5}}-{_UUID}(?:\.gz)?\.metadata\.json"
)
_DELTA = re.compile(
    rf"(?:.*/)?(?:part-\d{{5}}-{_UUID}[-.]c\d+(?:\.\w+)?\.parquet|deletion_vector_{_UUID}\.bin)"
)


def check_inside(addresses: Iterable[str], warehouse: str, table: str) -> None:
    """Refuse to write a table if any of its addresses leads out of the warehouse.

    Args:
        addresses: of files and folders of the table.
        table: its name.

    Raises:
        TerminalError: ``OUTSIDE_WAREHOUSE``.
    """
    addresses = list(addresses)
    own = {*inside(addresses, warehouse)}
    for address in addresses:
        if address not in own:
            raise TerminalError(
                "OUTSIDE_WAREHOUSE",
                f'table "{table}" has "{address}", which lies outside the warehouse "{warehouse}"',
                hint="run `headwater relocate` if the warehouse was moved or copied",
            )


def deletable(addresses: Iterable[str], warehouse: str) -> list[str]:
    """Return the files that may be deleted once no snapshot needs them; the others are logged."""
    addresses = list(addresses)
    own = inside(addresses, warehouse)
    for address in {*addresses} - {*own}:
        log.warning("%s lies outside the warehouse %s: it is not deleted", address, warehouse)
    return own


def orphans(addresses: Iterable[str], location: str, *, delta: bool = False) -> list[str]:
    """Return the files of a table's folder that a write of this lake has left there.

    Args:
        addresses: files that no snapshot knows.
        location: the table's folder.
        delta: whether it is a Delta table.
    """
    names, folder = _DELTA if delta else _ICEBERG, plain_address(location).rstrip("/") + "/"
    return [
        address
        for address in inside(addresses, location)
        if names.fullmatch(plain_address(address).removeprefix(folder))
    ]
