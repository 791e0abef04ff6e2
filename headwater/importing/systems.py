"""The systems that can be imported, by name."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.importing.contract import System
from headwater.importing.flink import FLINK

SYSTEMS: Mapping[str, System] = {each.name: each for each in (FLINK,)}
