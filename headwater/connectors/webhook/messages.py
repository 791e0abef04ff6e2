"""Records of a delivery → messages, each with an identity that outlives any failure.

In: records in an order that is the same each time. Out: messages. The identity of a message is a
hash of the sink, of the delivery and of its records, and of how many equal messages are before it.
So a message that is sent again, in this process or after a crash, has the same identity. Two
messages of a delivery never share one.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice


@dataclass(frozen=True, slots=True)
class RowRecord:
    """What became of one row.

    Attributes:
        key: JSON of the columns of its key; None without one.
        value: JSON of the row or of its change; None if the row is gone.
    """

    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class Message:
    """One request.

    Attributes:
        id: its identity.
        body: what is sent.
    """

    id: str
    body: bytes


Body = Callable[[list[RowRecord], str], str]
"""Makes the body of some records, given the identity of their message."""


def messages(
    records: Iterable[RowRecord], size: int, delivery: str, body: Body
) -> Iterator[Message]:
    """Yield the messages of a delivery.

    Args:
        records: in the order in which they are sent.
        size: maximum number of records in a message.
        delivery: identifies the delivery and its sink.
        body: makes the body of a message.
    """
    waiting, equal = iter(records), Counter[bytes]()
    while batch := list(islice(waiting, size)):
        content = _content(batch)
        identity = hashlib.sha256(f"{delivery}\0{equal[content]}\0".encode() + content)
        equal[content] += 1
        message_id = f"msg_{identity.hexdigest()[:32]}"
        yield Message(message_id, body(batch, message_id).encode())


def _content(batch: list[RowRecord]) -> bytes:
    """A hash of records; their texts do not run into each other."""
    found = hashlib.sha256()
    for record in batch:
        for text in (record.key, record.value):
            data = b"" if text is None else text.encode()
            found.update(f"{-1 if text is None else len(data)}:".encode() + data)
    return found.digest()
