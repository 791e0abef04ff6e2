"""Values as people and programs read them, in every place that shows rows.

In: a Python value of a result. Out: its text, or what JSON holds of it without loss.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal


def as_text(value: object) -> str:
    """Return a value as a person reads it: ISO times, ``NULL``, bytes as hex, lists as JSON."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case datetime():
            text = value.replace(tzinfo=None).isoformat(sep=" ")
            text = text.rstrip("0") if value.microsecond else text
            return text + ("Z" if value.tzinfo else "")
        case bytes():
            return value.hex()
        case list() | tuple() | dict():
            return json.dumps(as_json(value), ensure_ascii=False)
        case _:
            return str(value)


def as_json(value: object) -> object:
    """Return a value as JSON holds it without loss: decimals and times as text, bytes as hex."""
    match value:
        case Mapping():
            return {str(key): as_json(item) for key, item in value.items()}
        case list() | tuple():
            return [as_json(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
        case datetime() | bytes() | Decimal() | date() | time() | timedelta():
            return as_text(value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def is_number(value: object) -> bool:
    """Return whether a value is a number, or missing."""
    return value is None or (
        isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    )
