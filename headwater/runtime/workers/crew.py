"""All workers of a running project."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.engine.streaming.quarantine import SourceQuarantine
from headwater.engine.streaming.query import StreamingView
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
    """

    landers: list[LandingWorker] = field(default_factory=list)
    streams: dict[str, StreamWorker[StreamingView]] = field(default_factory=dict)
    tickers: list[TickWorker] = field(default_factory=list)
    quarantines: list[StreamWorker[SourceQuarantine]] = field(default_factory=list)
    deliveries: list[SinkWorker] = field(default_factory=list)

    def all(self) -> list[Worker]:
        """Return every worker: those whose rows others read come first."""
        readers = [*self.quarantines, *self.tickers, *self.deliveries]
        return [*self.landers, *self.streams.values(), *readers]

    def makes(self) -> bool:
        """Return whether a worker other than a sink's is alive."""
        return any(each.alive for each in self.all() if not isinstance(each, SinkWorker))

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
