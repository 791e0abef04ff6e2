"""The sink itself: it notes rows on a board of this process."""

from headwater.connectors.sink_contract import SinkConnector

BOARDS = {}


class Board(SinkConnector):
    """Notes the rows of each epoch by its number: delivering it again changes nothing."""

    def __init__(self, sink, directory):
        self._epochs = BOARDS.setdefault(sink.options["name"], {})

    def open(self, lake):
        """Nothing to prepare."""

    def place(self, before):
        """Return the name of the place; there is one."""
        return "here"

    def deliver(self, changed, epoch):
        """Write the rows that were gained."""
        self._epochs[epoch.marker.epoch] = [tuple(row)[:-1] for row in changed.collect()]
