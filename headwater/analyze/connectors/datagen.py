"""Options of a table whose rows are generated."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.analyze.connectors.contract import LIMITS, ConnectorOptions, Option

DATAGEN_FIELD: Mapping[str, Option] = {
    "kind": Option(
        "choice",
        "how values are made: sequence (start, start + step, …), random (between min "
        "and max), values (drawn from a list), time (start + row / rows_per_second, "
        "minus some lateness), constant",
        choices=("sequence", "random", "values", "time", "constant"),
    ),
    "start": Option("time", "sequence: first value, default 0; time: the time of row 0"),
    "end": Option("number", "sequence: last value, after which it begins again at start"),
    "step": Option("number", "sequence: distance between two values", default="1"),
    "min": Option("time", "random: least value", default="0"),
    "max": Option("time", "random: greatest value, which integers include", default="1000000"),
    "length": Option("integer", "random text: number of letters", default="8", minimum=1),
    "values": Option("list", "values: the list to draw from"),
    "weights": Option("list", "values: relative weights, as many as values; default: all equal"),
    "value": Option("text", "constant: the value"),
    "max_lateness": Option(
        "interval",
        "time: each row is set back by a random span up to this one, so that rows "
        "arrive out of order",
        default="0 seconds",
    ),
    "null_rate": Option(
        "number", "share of rows that are NULL, from 0 to 1", default="0", minimum=0
    ),
}
"""Every value is a pure function of (seed, column name, row number): a row can be made again at
any time.

Default kind by type: numbers, text and booleans ``random``; DATE and TIMESTAMP ``time`` with start
2024-01-01 00:00:00 UTC."""

DATAGEN = ConnectorOptions(
    options={
        "rows_per_second": Option(
            "integer", "rows made per second; also the clock of kind time", default="10", minimum=1
        ),
        "number_of_rows": Option(
            "integer", "number of rows after which it stops; default: never", minimum=0
        ),
        "seed": Option(
            "integer", "seed of the values; another seed makes other values", default="0"
        ),
        "max_rows_per_epoch": Option("integer", "maximum number of rows in one epoch", minimum=1),
        **LIMITS,
    },
    metadata={"row": "BIGINT"},
    fields=DATAGEN_FIELD,
    reader="headwater.connectors.datagen:Datagen",
    input_kept="always",
)
