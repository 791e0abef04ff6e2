"""Every form of the allow-list means in Spark what Trino answered when it was asked."""

import pytest
from pyspark.sql import SparkSession

from tests.conformance import record
from tests.conformance.expected import listed, surprise
from tests.conformance.forms import FORMS
from tests.conformance.judge import differences
from tests.conformance.spark_answers import SparkSide

STEP = 6
"""The fast lane asks one form in so many: the number of expressions costs."""


@pytest.mark.parametrize("share", ["sixth", "rest"])
def test_forms_mean_what_trino_answered(share: str, spark: SparkSession) -> None:
    # what is known to differ can stop a statement of many forms: make conformance runs it alone
    known = {text for text, each in listed().items() if "spark" in each.where}
    forms = [
        form
        for at, form in enumerate(FORMS)
        if form.text not in known and (at % STEP == 0) is (share == "sixth")
    ]
    answers, side = record.read(), SparkSide(spark)
    side.ask(forms)
    surprises = [
        words
        for form in forms
        for where, found in differences(form, answers[form.text], spark=side.answer).items()
        if (words := surprise(form, where, found))
    ]
    assert surprises == []
