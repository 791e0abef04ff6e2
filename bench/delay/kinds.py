"""The kinds of view whose delay is measured: a table and what reads it.

In: nothing. Out: :data:`KINDS`; to measure another kind, add one.
"""

from __future__ import annotations

from dataclasses import dataclass

_TABLE = """CREATE {what} events (
  id BIGINT NOT NULL, device BIGINT, value DOUBLE, at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR at AS at - INTERVAL '1' SECOND
)
WITH (connector = 'kafka', topic = '{topic}', bootstrap_servers = '{servers}')
FORMAT PLAIN ENCODE JSON;
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of view.

    Attributes:
        name: as the report has it.
        shown: the table or view that a reader looks at.
        newest: its column with the newest record's number.
        view: the statement that makes it, if it is a view.
        closes: seconds of its windows, if rows wait until those are over.
        landed: whether the events are a table; otherwise the view reads the SOURCE.
    """

    name: str
    shown: str
    newest: str
    view: str = ""
    closes: int = 0
    landed: bool = True

    @property
    def project(self) -> str:
        """The name of its project and of its topic."""
        return self.name.lower().replace(" ", "_")

    def statements(self, topic: str, servers: str) -> str:
        """Return the project's SQL."""
        what = "TABLE" if self.landed else "SOURCE"
        return _TABLE.format(what=what, topic=topic, servers=servers) + self.view


KINDS = (
    Kind("landed table", "events", "id"),
    Kind(
        "filter",
        "large",
        "id",
        "CREATE STREAMING VIEW large AS SELECT id, device, value FROM events WHERE value >= 0;\n",
    ),
    Kind(
        "corrected groups",
        "per_device",
        "newest",
        "CREATE STREAMING VIEW per_device AS SELECT device, count(*) AS events,"
        " sum(value) AS total, max(id) AS newest FROM events GROUP BY device;\n",
    ),
    Kind(
        "newest row per key",
        "latest",
        "id",
        "CREATE STREAMING VIEW latest AS SELECT id, device, value, at FROM events"
        " QUALIFY row_number() OVER (PARTITION BY device ORDER BY at DESC, id DESC) = 1;\n",
    ),
    Kind(
        "join in time",
        "pairs",
        "id",
        "CREATE STREAMING VIEW pairs AS SELECT a.id, a.device, b.value FROM events AS a"
        " JOIN events AS b ON b.device = a.device AND b.id = a.id - 200"
        " AND b.at BETWEEN a.at - INTERVAL '10' SECOND AND a.at;\n",
    ),
    Kind(
        "counts over a minute",
        "busy",
        "id",
        "CREATE STREAMING VIEW busy AS SELECT id, device, in_a_minute FROM (SELECT id, device,"
        " count(*) OVER (PARTITION BY device ORDER BY at RANGE BETWEEN INTERVAL '1' MINUTE"
        " PRECEDING AND CURRENT ROW) AS in_a_minute FROM events) AS e WHERE in_a_minute > 0;\n",
    ),
    Kind(
        "final windows of 1 s",
        "per_second",
        "newest",
        "CREATE STREAMING VIEW per_second AS SELECT window_end, count(*) AS events,"
        " max(id) AS newest FROM TUMBLE(events, at, INTERVAL '1' SECOND)"
        " GROUP BY window_end EMIT ON WINDOW CLOSE;\n",
        closes=1,
    ),
    Kind(
        "filter of a SOURCE",
        "straight",
        "id",
        "CREATE STREAMING VIEW straight AS SELECT id, device, value FROM events"
        " WHERE value >= 0;\n",
        landed=False,
    ),
)
