"""A stream's cheaper decoding keeps the rows that landing finds good, no more and no fewer."""

from __future__ import annotations

from collections import Counter

from test_bad_rows import GOOD, JSON_COLUMNS, JSON_LINES

from headwater.intake.connectors.raw import record_columns
from headwater.intake.decode import Decoder
from headwater.intake.decode_json import good_json_lines, json_lines

# what only a column of event time can be refused for: this source has none
EVENT_TIME_FATES = ("future-dated", "event-time column", "event time before")


def test_both_decodings_of_json_find_the_same_rows_good(tmp_path, spark, files_source):
    source = files_source(JSON_COLUMNS, options={"max_record_bytes": "8000"})
    (tmp_path / "lines.json").write_bytes(b"\n".join(line for line, _ in JSON_LINES))
    lines = spark.read.option("lineSep", "\n").text(str(tmp_path))
    lines.selectExpr(*record_columns("_metadata.file_name")).createOrReplaceTempView("lines")

    def good(decoding):
        rows = spark.sql(Decoder(source, decoding(source, "lines"), "current_timestamp()").rows())
        columns = [column.name for column in source.columns]
        return Counter(map(str, rows.where("_reason IS NULL").select(*columns).collect()))

    found = good(json_lines)
    assert found.total() == sum(
        fate == GOOD or any(word in fate for word in EVENT_TIME_FATES) for _, fate in JSON_LINES
    )
    assert good(good_json_lines) == found
