"""The connector itself: ranges of numbers, and their squares as a DataFrame."""

from headwater.connectors.contract import Connector, Range, encoded_columns, rows_of
from headwater.formats.columns import Decoder
from headwater.plan.sql.spark_text import moment

SQUARES_OF = {"en": "square of {}", "de": "Quadrat von {}"}


class Squares(Connector[range]):
    """Rows ``n, square, said``; a position is the next number."""

    coordinates = (("_row", "BIGINT"),)
    unit = "rows"

    def __init__(self, source, config, *, once=False):
        self._source = source
        self._first, self._last = (int(source.options.get(name, 0)) for name in ("first", "last"))
        self._said = SQUARES_OF[source.encode_options.get("language", "en")]

    def next_range(self, after, limits):
        """Return at most ``limits.rows`` numbers after a position."""
        first = int(after or self._first)
        end = min(self._last + 1, first + (limits.rows or 1000))
        return self.range_between(after, str(end)) if end > first else None

    def range_between(self, after, position):
        """Return the numbers between two positions: what makes landing exactly-once."""
        numbers = range(int(after or self._first), int(position))
        return Range(position, len(numbers), numbers)

    def read(self, spark, taken, arrived_at):
        """Return the rows of some numbers."""
        rows = [(n, n * n, self._said.format(n), n) for n in taken.body]
        columns = "n BIGINT, square BIGINT, said STRING, _row BIGINT"
        spark.createDataFrame(rows, columns).createOrReplaceTempView("_squares")
        encoded = encoded_columns(self._source, "_squares", ("_row",))
        return rows_of(spark, Decoder(self._source, encoded, moment(arrived_at)))

    def backlog(self, after):
        """Return how many numbers are left."""
        return self._last + 1 - int(after or self._first)
