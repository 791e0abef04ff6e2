"""The options of the connector, without Spark: squares of numbers, written in digits or words."""

from headwater.analyze.connectors.contract import ConnectorOptions, Option, Plugin, SinkOptions
from headwater.analyze.connectors.options import option_node


def check_squares(statement, source, report):
    """Report what the tables cannot express: a range that is empty."""
    first, last = int(source.options.get("first", 0)), int(source.options.get("last", 0))
    if first > last:
        at = option_node(statement, "first")
        report.add("INVALID_OPTION", f"first is {first}, after last", at, f"write first = {last}")


SQUARES = ConnectorOptions(
    options={
        "first": Option("integer", "first number", default="0", minimum=0),
        "last": Option("integer", "last number", required=True, minimum=0),
    },
    encodings=("words",),
    metadata={"row": "BIGINT"},
    check=check_squares,
    reader="toy.reader:Squares",
    input_kept="always",
)
BOARD = SinkOptions(
    options={"name": Option("text", "name of the board", required=True)},
    place=("name",),
    held_by=("name",),
    formats=("plain",),
    writer="toy.writer:Board",
)
PLUGIN = Plugin(source=SQUARES, sink=BOARD)
WORDS = {
    "language": Option("choice", "language of the words", default="en", choices=("en", "de")),
}
