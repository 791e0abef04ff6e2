"""The contract of a sink's connector: where the changes of a view go.

In: a sink's definition and options. Out: changes that are there to stay once
:meth:`SinkConnector.deliver` returns. What is under way is remembered by
``headwater.engine.delivery``; a connector whose place is transactional looks there for what it has
delivered.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame

from headwater.analyze.definitions import Sink
from headwater.lake.catalog import Lake
from headwater.lake.protocol.commit import Fence
from headwater.lake.protocol.marker import Marker


@dataclass(frozen=True, slots=True)
class DeliveryEpoch:
    """What is known of one delivery.

    Attributes:
        marker: its number and its range; the same each time it is tried.
        at: when the newest commit in it was made, milliseconds since 1970 UTC.
        fence: asked before something becomes visible that cannot be taken back, if given.
    """

    marker: Marker
    at: int
    fence: Fence | None = None


class SinkConnector(ABC):
    """Where the changes of one sink go.

    Args:
        sink: its definition.
        directory: where relative paths of options start.
    """

    @abstractmethod
    def __init__(self, sink: Sink, directory: Path) -> None: ...

    @staticmethod
    def jars(sink: Sink, directory: Path) -> tuple[str, ...]:  # noqa: ARG004 - of some
        """Return the configurations of ``headwater/jars/ivy.xml`` that Spark needs beside its own.

        Secrets of the options are read too, if they are there: what Spark logs is scrubbed of those
        that were known before it starts.

        Args:
            sink: the definition.
            directory: where relative paths of options start.
        """
        return ()

    @abstractmethod
    def open(self, lake: Lake) -> None:
        """Get ready.

        Args:
            lake: the project's lake, seen through a session of the sink's own.
        """

    @abstractmethod
    def place(self, before: str | None) -> str:
        """Return what the changes go to, as it is now.

        Args:
            before: what was returned for the delivery before; None before the first.

        Returns:
            A text that is kept with the position.

        Raises:
            TerminalError: it is not what was delivered to before.
            ServiceError: it cannot be reached.
        """

    @abstractmethod
    def deliver(self, changed: DataFrame, epoch: DeliveryEpoch) -> None:
        """Deliver changes; all of them are there to stay when this returns.

        Args:
            changed: the rows gained and lost, the sign last.
            epoch: which delivery it is.

        Raises:
            ServiceError: it failed; some of them may be there.
        """

    def interrupt(self) -> None:  # noqa: B027 - most deliveries are short
        """Ask a delivery that may take long to raise soon; called from another thread.

        What it has not delivered, the next run delivers.
        """
