"""The tables of connectors and options, and values against them."""

import pytest

from headwater.analyze.connectors.contract import Option
from headwater.analyze.connectors.encodings import ENCODINGS
from headwater.analyze.connectors.options import check_value
from headwater.analyze.connectors.registry import CONNECTORS, VIEW_OPTIONS


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        (Option("integer", "", minimum=1), ["1", "20"], ["0", "-3", "1.5", "x", ""]),
        (Option("number", "", minimum=0), ["0", "0.5", "1e3"], ["-0.1", "x"]),
        (Option("boolean", ""), ["true", "false"], ["yes", "TRUE", ""]),
        (
            Option("interval", ""),
            ["90 seconds", "1 hour", "2.5 MINUTES", "10second"],
            ["90", "soon", "1 month", "-1 hour"],
        ),
        (Option("choice", "", choices=("a", "b")), ["a", "b"], ["c", "A", ""]),
        (
            Option("time", ""),
            ["2024-01-01", "2024-01-01 10:00:00", "2024-01-01T10:00:00Z", "-5", "1e6"],
            ["soon", "2024-13-01", ""],
        ),
        (Option("text", "folder", required=True), ["x", " "], [""]),
        (Option("text", ""), ["x", ""], []),
        (Option("list", ""), ["a,b", ""], []),
    ],
    ids=lambda value: value.kind if isinstance(value, Option) else "",
)
def test_values_are_held_against_their_kind(
    option: Option, good: list[str], bad: list[str]
) -> None:
    assert [text for text in good if check_value(text, option)] == []
    for text in bad:
        wrong = check_value(text, option)
        assert wrong is not None and all(wrong), text


def test_every_option_describes_itself_and_its_default_is_valid() -> None:
    tables = [VIEW_OPTIONS, *ENCODINGS.values()]
    for connector in CONNECTORS.values():
        tables += [connector.options, connector.fields]
    for table in tables:
        for name, option in table.items():
            assert option.description, name
            assert (option.kind == "choice") == bool(option.choices), name
            assert not option.default or check_value(option.default, option) is None, name


def test_encodings_of_built_connectors_have_their_options() -> None:
    for connector in CONNECTORS.values():
        assert set(connector.encodings) <= set(ENCODINGS)
