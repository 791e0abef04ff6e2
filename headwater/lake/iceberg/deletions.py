"""Files of an Iceberg table that are deleted: only those in the warehouse of the lake.

Iceberg deletes whatever the metadata names, wherever that is. Here it only says what it would
delete; what lies outside the warehouse stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from py4j.java_gateway import JavaObject

from headwater.lake.iceberg.table import LakeTable
from headwater.lake.java import elements, java_class
from headwater.lake.storage.own_files import deletable

_INVOKE = "java.lang.invoke"


@dataclass(frozen=True, slots=True)
class Deleted:
    """What Iceberg would delete.

    Attributes:
        consumer: a ``java.util.function.Consumer`` that Iceberg gives the files to.
        files: a Java collection of their addresses.
    """

    consumer: JavaObject
    files: JavaObject


@contextmanager
def deleting(table: LakeTable) -> Iterator[Deleted]:
    """Collect what Iceberg would delete in the block; afterwards delete what is the lake's own."""
    # Iceberg may call it in several threads
    files = java_class(table.spark, "java.util.concurrent.ConcurrentLinkedQueue")()
    yield Deleted(_consumer(table, files), files)
    delete(table, [str(each) for each in elements(files)])


def delete(table: LakeTable, addresses: Sequence[str]) -> None:
    """Delete files that no snapshot needs; what cannot be deleted is an orphan until later."""
    own = deletable(addresses, table.warehouse or str(table.java.location()))
    if own:
        files = java_class(table.spark, "java.util.ArrayList")()
        for address in own:
            files.add(address)
        catalogs = java_class(table.spark, "org.apache.iceberg.CatalogUtil")
        catalogs.deleteFiles(table.java.io(), files, "file", True)  # noqa: FBT003 - Java's


def _consumer(table: LakeTable, files: JavaObject) -> JavaObject:
    """Return what puts each file into a collection, all of it in the JVM."""
    classes = java_class(table.spark, "java.lang.Class")
    types = java_class(table.spark, f"{_INVOKE}.MethodType")
    returned = java_class(table.spark, "java.lang.Boolean").TYPE
    lookup = java_class(table.spark, f"{_INVOKE}.MethodHandles").publicLookup()
    kind = types.methodType(returned, classes.forName("java.lang.Object"))
    add = lookup.bind(files, "add", kind)
    proxies = java_class(table.spark, f"{_INVOKE}.MethodHandleProxies")
    return proxies.asInterfaceInstance(classes.forName("java.util.function.Consumer"), add)
