"""The contract of a sink's connector: where records go.

In: a sink's definition and options. Out: records that are there to stay once :meth:`Outlet.deliver`
returns. A connector remembers nothing: ``headwater.sinks.delivery`` does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from pyspark.sql import DataFrame, SparkSession


class Outlet(ABC):
    """Where the records of one sink go."""

    @abstractmethod
    def open(self, spark: SparkSession) -> None:
        """Get ready.

        Args:
            spark: a session of the sink's own.
        """

    @abstractmethod
    def place(self, before: str | None) -> str:
        """Return what the records go to, as it is now.

        Args:
            before: what was returned for the delivery before; None before the first.

        Returns:
            A text that is kept with the position.

        Raises:
            TerminalError: it is not what the earlier records went to.
            ServiceError: it cannot be reached.
        """

    @abstractmethod
    def deliver(self, records: DataFrame) -> None:
        """Write records; all of them are acknowledged when this returns.

        Args:
            records: columns ``key``, ``value`` (both text or NULL) and ``headers`` (an array of
                ``key`` and ``value``); records of one key stand in the order of one task.

        Raises:
            ServiceError: it failed; some of them may be there.
        """
