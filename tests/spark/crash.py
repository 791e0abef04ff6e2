"""The end of the process in the middle of an epoch of a landing, without ending it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from headwater.intake import land as module


class Crash(Exception):
    """Stands for the end of the process."""


def before_publishing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what lets the next epoch end after its side tables are committed, not its table."""

    def arm() -> None:
        whole = module.EpochWrite.__call__

        def crash(self: module.EpochWrite, target: str) -> None:
            whole(self, target)
            monkeypatch.setattr(module.EpochWrite, "__call__", whole)
            raise Crash

        monkeypatch.setattr(module.EpochWrite, "__call__", crash)

    return arm
