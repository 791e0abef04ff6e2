"""All workers of a running project."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from headwater.engine.streaming.quarantine import SourceQuarantine
from headwater.engine.streaming.query import StreamingView
from headwater.runtime.events import ViewBuilding
from headwater.runtime.workers.building import Builds, Read
from headwater.runtime.workers.landing import LandingWorker
from headwater.runtime.workers.sinks import SinkWorker
from headwater.runtime.workers.streams import StreamWorker
from headwater.runtime.workers.ticks import TickWorker
from headwater.runtime.workers.worker import Worker


@dataclass
class Crew:
    """The workers, by what they do.

    Attributes:
        landers: land tables.
        streams: keep streaming views, by name.
        tickers: keep incremental views.
        quarantines: keep what cannot be decoded of a SOURCE.
        deliveries: deliver sinks.
        building: what the tickers build from history.
    """

    landers: list[LandingWorker] = field(default_factory=list)
    streams: dict[str, StreamWorker[StreamingView]] = field(default_factory=dict)
    tickers: list[TickWorker] = field(default_factory=list)
    quarantines: list[StreamWorker[SourceQuarantine]] = field(default_factory=list)
    deliveries: list[SinkWorker] = field(default_factory=list)
    building: list[Builds] = field(default_factory=list)

    def all(self) -> list[Worker]:
        """Return every worker: those whose rows others read come first."""
        readers = [*self.quarantines, *self.tickers, *self.deliveries]
        return [*self.landers, *self.streams.values(), *readers]

    def makes(self) -> bool:
        """Return whether a worker other than a sink's is alive."""
        return any(each.alive for each in self.all() if not isinstance(each, SinkWorker))

    def builds(self, read: Read, tell: Callable[[ViewBuilding], None]) -> Builds:
        """Return the builds of another ticker.

        Args:
            read: how many rows Spark has read.
            tell: told how far each build is.
        """
        self.building.append(Builds(read, tell))
        return self.building[-1]

    def look(self) -> None:
        """Tell how far the builds are; that Spark has gone, others say."""
        with suppress(Exception):
            for each in self.building:
                each.look()

    def ticker_of(self, name: str) -> TickWorker | None:
        """Return the worker that keeps an incremental view."""
        return next((each for each in self.tickers if name in each.keeps), None)

    def stop(self) -> None:
        """Finish what every worker is doing."""
        workers = self.all()
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()
