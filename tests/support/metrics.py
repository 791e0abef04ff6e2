"""A scrape as Prometheus makes it, read by a parser that is not ours to please."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families

ACCEPT = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@dataclass(frozen=True)
class Scrape:
    families: list[Metric]

    def value(self, sample: str, name: str, **labels: str) -> float | None:
        """The value of a sample of a table, view or sink; None if there is none."""
        wanted = {"name": name, **labels}
        found = [
            each.value for each in self.samples(sample) if wanted.items() <= each.labels.items()
        ]
        assert len(found) < 2, found
        return found[0] if found else None

    def samples(self, sample: str) -> Iterable:
        return [s for family in self.families for s in family.samples if s.name == sample]

    def state(self, name: str) -> str | None:
        """The state that is 1."""
        found = [s for s in self.samples("headwater_state") if s.labels["name"] == name]
        on = [s.labels["headwater_state"] for s in found if s.value == 1]
        assert len(on) < 2
        return on[0] if on else None


def scrape(address: str) -> Scrape:
    request = urllib.request.Request(address, headers={"Accept": ACCEPT})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Type"].startswith("application/openmetrics-text")
        text = answer.read().decode()
    return Scrape(list(text_string_to_metric_families(text)))
