"""Every form of the allow-list means in Spark what Trino answered when it was asked."""

from pyspark.sql import SparkSession

from tests.conformance import record
from tests.conformance.expected import listed, surprise
from tests.conformance.forms import FORMS
from tests.conformance.judge import differences
from tests.conformance.spark_answers import SparkSide


def test_forms_mean_what_trino_answered(spark: SparkSession) -> None:
    # what is known to differ can stop a statement of many forms: make conformance runs it alone
    known = {text for text, each in listed().items() if "spark" in each.where}
    forms = [form for form in FORMS if form.text not in known]
    answers, side = record.read(), SparkSide(spark)
    side.ask(forms)
    surprises = [
        words
        for form in forms
        for where, found in differences(form, answers[form.text], spark=side.answer).items()
        if (words := surprise(form, where, found))
    ]
    assert surprises == []
