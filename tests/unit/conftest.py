"""What the fast tests share: a secret that one test read is none for the next."""

from __future__ import annotations

import pytest

from headwater import redact


@pytest.fixture(autouse=True)
def _no_secrets() -> None:
    redact.forget()
