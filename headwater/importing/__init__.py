"""Another system's DDL and queries → a Headwater project and a report.

In: files of Flink, RisingWave, ksqlDB or Materialize, or a folder of dbt. Out: ``headwater.toml``,
the SQL files, and what could not be turned, each with place, reason and remedy. Starts no JVM.
"""

from __future__ import annotations

from headwater.importing.contract import ImportResult, ReportLine
from headwater.importing.convert import Imported, import_files
from headwater.importing.systems import SYSTEMS

__all__ = ["SYSTEMS", "ReportLine", "Imported", "ImportResult", "import_files"]
