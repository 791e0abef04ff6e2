"""Secrets that were read are in no text that goes out, in none of their forms."""

from __future__ import annotations

import base64
import io
import json
import logging
import re
import sys
from functools import partial
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater import redact
from headwater.cli.context import Context
from headwater.cli.main import main
from headwater.cli.output import FORMATS
from headwater.errors import ConfigError, ServiceError, Span

SECRET = "s3cr/et+Wört 'x\\y"


@pytest.fixture(autouse=True)
def _known() -> None:
    redact.remember(SECRET)


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote_plus(SECRET),
        re.sub("%..", lambda match: match[0].lower(), quote(SECRET)),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        SECRET.replace("'", "''"),
        SECRET.replace("\\", "\\\\").replace("'", "\\'"),
    ],
)
def test_every_form_is_found(form: str) -> None:
    assert redact.holds_secret(f"a {form} b")
    assert redact.scrub(f"a {form} b").strip('"') in ("a *** b", 'a "***" b')


@given(st.text(max_size=7), st.text(max_size=7))
def test_base64_is_found_behind_and_before_anything(before: str, after: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode((before + SECRET + after).encode()).decode()
        clean = redact.scrub(text)
        assert redact.MASK in clean
        # at most the digits at the seams are left, and they tell at most two bits of the secret
        assert len(clean.replace(redact.MASK, "")) <= len((before + after).encode()) * 8 / 6 + 4


@given(st.text(min_size=redact.MIN_LENGTH, max_size=30))
def test_any_secret_is_found_by_python_and_java(secret: str) -> None:
    redact.forget()
    redact.remember(secret)
    assert secret not in redact.scrub(f"<{secret}>")
    pattern = redact.java_pattern()
    assert re.fullmatch(r"(?:(?:\\u[0-9a-f]{4})+\|?)+", pattern)  # nothing that log4j2 would read


def test_what_is_short_is_a_setting_and_no_secret() -> None:
    redact.remember("4")
    assert redact.scrub("42 of 4") == "42 of 4"


def test_no_secret_no_cost() -> None:
    redact.forget()
    assert redact.scrub(SECRET) == SECRET
    assert redact.java_pattern() == "(?!)"


def test_a_secret_of_several_lines_is_found_line_by_line() -> None:
    redact.remember("-----BEGIN KEY-----\nabcdefgh\n")
    assert redact.scrub("x abcdefgh y") == "x *** y"


def test_errors_are_clean_wherever_they_go() -> None:
    span = Span("a.sql", 1, 1, 3, f"password = '{SECRET}'")
    error = ServiceError("X", f"cannot reach {SECRET}", hint=f"look at {quote(SECRET)}", span=span)
    assert not redact.holds_secret(f"{error.message} {error.hint} {error} {error.args}")


@pytest.mark.parametrize("form", list(FORMATS))
def test_outputs_are_clean(form: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    output = FORMATS[form](out, err)
    output.rows(("a", "b"), [(1, SECRET), (2, [quote(SECRET)])])
    output.document({"a": SECRET}, SECRET)
    output.note(SECRET)
    output.error(ConfigError("X", "message", span=Span("f", 1, 1, 1, SECRET)))
    assert not redact.holds_secret(out.getvalue() + err.getvalue())
    assert out.getvalue().count(redact.MASK) == 3


def test_tracebacks_and_logs_of_a_command_are_clean(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        logging.getLogger("x").warning("before %s", SECRET)
        raise ValueError(f"inside {SECRET}")

    monkeypatch.setattr("headwater.cli.main.cli.main", lambda **_: fail())
    monkeypatch.setattr("headwater.cli.main.Context", partial(Context, debug=True))
    before = sys.stdout, sys.stderr
    assert main(["check"]) == 3
    assert (sys.stdout, sys.stderr) == before
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "ValueError: inside ***" in shown
    assert not redact.holds_secret(shown)
