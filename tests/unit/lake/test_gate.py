"""Commits and maintenance take turns."""

from __future__ import annotations

import threading
from datetime import timedelta

from headwater.lake.protocol.commit_lock import CommitLock


def test_a_commit_waits_for_maintenance_and_the_longest_is_remembered():
    gate, order, inside = CommitLock(), [], threading.Event()

    def committer():
        inside.set()
        with gate.commit():
            order.append("commit")

    thread = threading.Thread(target=committer)
    with gate.maintenance():
        thread.start()
        inside.wait()
        order.append("maintenance")
    thread.join()
    assert order == ["maintenance", "commit"]
    assert gate.longest > timedelta(0)
    longest = gate.longest
    with gate.maintenance():
        pass
    assert gate.longest == longest
