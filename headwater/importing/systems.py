"""The systems that can be imported, by name."""

from __future__ import annotations

from collections.abc import Mapping

from headwater.importing.dbt.project import DBT
from headwater.importing.flink.statements import FLINK
from headwater.importing.ksqldb.statements import KSQLDB
from headwater.importing.materialize.statements import MATERIALIZE
from headwater.importing.risingwave.statements import RISINGWAVE
from headwater.importing.run import System

SYSTEMS: Mapping[str, System] = {
    each.name: each for each in (FLINK, RISINGWAVE, KSQLDB, MATERIALIZE, DBT)
}
