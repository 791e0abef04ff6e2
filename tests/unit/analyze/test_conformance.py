"""Every form of the allow-list means in DuckDB what Trino answered when it was asked."""

from collections.abc import Iterator

import pytest

from headwater.analyze.typing.functions import FUNCTIONS, INTERNAL
from tests.conformance import record
from tests.conformance.engines import DuckDB
from tests.conformance.expected import listed, purposes, surprise
from tests.conformance.forms import FORMS, calls
from tests.conformance.judge import differences
from tests.conformance.product import translated
from tests.conformance.values import digest

ANSWERS = record.read()
PARTS = 8
"""Tests that the forms are dealt to, so that several processes share them."""


@pytest.fixture(scope="module")
def duck() -> Iterator[DuckDB]:
    engine = DuckDB()
    yield engine
    engine.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_forms_mean_what_trino_answered(part: int, duck: DuckDB) -> None:
    surprises = [
        words
        for form in FORMS[part::PARTS]
        for where, found in differences(form, ANSWERS[form.text], duckdb=duck.answer).items()
        if (words := surprise(form, where, found))
    ]
    assert surprises == []


def test_every_form_is_recorded_over_the_values_of_today() -> None:
    unrecorded = [
        form.text
        for form in FORMS
        if form.text not in ANSWERS or ANSWERS[form.text].rows != digest(form.columns)
    ]
    assert unrecorded == [], "run: python -m tests.conformance record --missing"
    assert list(ANSWERS) == [form.text for form in FORMS]


def test_every_function_has_forms_that_are_accepted() -> None:
    accepted = {form.name for form in FORMS if not translated(form).refused}
    named = (each.name for node, each in FUNCTIONS.items() if node not in INTERNAL)
    assert set(named) <= accepted


def test_a_function_that_takes_constants_and_has_no_forms_is_an_error() -> None:
    function = next(each for each in FUNCTIONS.values() if each.name == "split_part")
    with pytest.raises(AssertionError, match="write forms of split_part"):
        calls(function)


def test_a_wrong_answer_is_a_surprise(duck: DuckDB) -> None:
    form = next(form for form in FORMS if form.text == "ceil(d)")
    answer = duck.answer(form)
    planted = differences(form, ANSWERS[form.text], duckdb=lambda _: answer | {3: 7.0})
    assert "('1.5',): 7.0, Trino 2.0" in surprise(form, "duckdb", planted["duckdb"])
    left_out = {key: value for key, value in answer.items() if key != 3}
    planted = differences(form, ANSWERS[form.text], duckdb=lambda _: left_out)
    assert "('1.5',): 'left out'" in surprise(form, "duckdb", planted["duckdb"])


def test_a_listed_form_that_is_equal_now_is_a_surprise() -> None:
    form = next(
        form for form in FORMS if form.text in listed() and "duckdb" in listed()[form.text].where
    )
    assert "is equal in duckdb now" in surprise(form, "duckdb", [])


def test_listed_forms_are_forms() -> None:
    assert listed().keys() <= {form.text for form in FORMS}


def test_every_purpose_is_needed() -> None:
    different = [form for form, each in listed().items() if each.verdict == "different"]
    unused = [each.reason for each in purposes() if not any(map(each.forms.search, different))]
    assert unused == []
