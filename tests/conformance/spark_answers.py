"""Asks Spark what the product's translations answer: many forms in one statement.

In: forms, and a session. Out: answers by form, or the error of a form that stops its statement.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from sqlglot import exp

from headwater.analyze.typing import types as t
from tests.conformance.engines import Answers, number, single, time
from tests.conformance.forms import Form
from tests.conformance.product import translated
from tests.conformance.values import rows_sql, table_of

_AT_ONCE = 50
_USUAL = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


class SparkSide:
    """Answers of a Spark session, asked for many forms at a time.

    Args:
        session: as the product opens it.
    """

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._found: dict[Form, Answers | str] = {}

    def ask(self, forms: Iterable[Form]) -> None:
        """Ask for the answers of forms; those that the product refuses are left out."""
        accepted = [form for form in forms if not translated(form).refused]
        for columns in {form.columns for form in accepted}:
            self._session.sql(rows_sql(columns, "spark")).createOrReplaceTempView(table_of(columns))
        usual = {name: self._session.conf.get(name, default) for name, default in _USUAL.items()}
        # thousands of expressions are computed over a few rows: to compile them would take longer
        self._set(_INTERPRETED)
        try:
            for at in range(0, len(accepted), _AT_ONCE):
                self._found |= self._answers(accepted[at : at + _AT_ONCE])
        finally:
            self._set(usual)

    def _set(self, settings: Mapping[str, str]) -> None:
        for name, value in settings.items():
            self._session.conf.set(name, value)

    def answer(self, form: Form) -> Answers:
        """Return the answers of a form that was asked for.

        Raises:
            SparkStops: if Spark fails.
        """
        found = self._found[form]
        if isinstance(found, str):
            raise SparkStops(found)
        return found

    def _answers(self, forms: Sequence[Form]) -> dict[Form, Answers | str]:
        parts = [_printed(at, form) for at, form in enumerate(forms)]
        try:
            rows = self._session.sql(" UNION ALL ".join(parts)).collect()
        except Exception as error:  # noqa: BLE001  an engine's error is an answer
            if len(forms) == 1:
                return {forms[0]: str(error)}
            half = len(forms) // 2
            return self._answers(forms[:half]) | self._answers(forms[half:])
        found: dict[Form, Answers | str] = {}
        by_form: list[Answers] = [{} for _ in forms]
        for at, key, text in rows:
            kind = translated(forms[at]).kind
            by_form[at][int(key)] = None if text is None else _value(text, kind)
        found.update(zip(forms, by_form, strict=True))
        return found


class SparkStops(Exception):
    """Spark stops on a row that nothing guards."""


def _printed(at: int, form: Form) -> str:
    translation = translated(form)
    key = "g" if form.grouped else "k"
    value = _text("x", translation.kind)
    return f"SELECT {at} AS f, {key} AS k, {value} AS v FROM ({translation.sql('spark')})"


def _text(value: str, kind: exp.DataType) -> str:
    if kind == t.VARBINARY:
        return f"lower(hex({value}))"
    if kind.this is t.Type.ARRAY:
        return f"to_json(transform({value}, e -> {_text('e', t.elements(kind)[0])}))"
    if kind.this is t.Type.MAP:
        return f"to_json(map_entries({value}))"
    return f"CAST({value} AS STRING)"


def _value(text: str, kind: exp.DataType) -> Any:
    match kind.this:
        case t.Type.BOOLEAN:
            return text == "true"
        case t.Type.INT | t.Type.BIGINT:
            return int(text)
        case t.Type.FLOAT:
            return single(float(text))
        case t.Type.DOUBLE:
            return number(float(text))
        case t.Type.DATE | t.Type.TIMESTAMPNTZ | t.Type.TIMESTAMPTZ:
            return time(text)
        case t.Type.ARRAY:
            inner = t.elements(kind)[0]
            return [None if item is None else _value(item, inner) for item in json.loads(text)]
        case t.Type.MAP:
            return sorted([item["key"], item.get("value")] for item in json.loads(text))
    return text
