"""The relation ``commits``: what every commit of a namespace says of itself, as columns.

In: the tables of a namespace. Out: a query in Trino's SQL over their ``$snapshots``, one row per
commit. Parts of one commit are one row, staged parts that were never published are none, and
neither is maintenance. Knows no Spark: readers without a JVM have the same relation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from headwater.lake.reserved_names import QUARANTINE, SIDE_TABLES

COMMITS = "commits"
"""The name of the relation; a project that has a table of that name goes without."""

DIALECT = "trino"
"""In whose SQL the view is written."""

COLUMNS: Sequence[tuple[str, str, str]] = (
    ("view", "string", "view or landed table"),
    ("epoch", "long", "number of the commit, from 0"),
    ("watermark", "timestamptz", "event time below which no more rows were expected"),
    ("committed_at", "timestamptz", "time at which the rows became visible"),
    (
        "freshness",
        "double",
        "seconds from the newest commit that it has read to this commit",
    ),
    (
        "rows_in",
        "long",
        "changed rows read from its inputs; for a landed table, new rows",
    ),
    ("rows_out", "long", "rows that the commit added; all, where it wrote a small table anew"),
    ("rows_removed", "long", "rows that it removed or replaced; all, where it wrote them anew"),
    ("rows_total", "long", "rows of the table after the commit"),
    ("rows_late", "long", "rows dropped as too late"),
    ("rows_quarantined", "long", "rows that were quarantined"),
    ("snapshot_id", "long", "snapshot of the commit, for FOR VERSION AS OF"),
    (
        "adaptive_delay",
        "double",
        "seconds that an adaptive watermark stayed behind the rows after this commit",
    ),
)
"""Name, type of Iceberg and comment of each column."""

TYPES = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "double": "DOUBLE",
    "timestamptz": "TIMESTAMP(6) WITH TIME ZONE",
}
"""Trino's names of these types."""


def commits_sql(tables: Collection[str]) -> str:
    """Return the view's query, in Trino's SQL.

    Args:
        tables: the tables of the namespace, side tables included.
    """
    own = sorted(name for name in tables if not name.endswith(SIDE_TABLES) and name != COMMITS)
    refused = [name for name in own if name + QUARANTINE in tables]
    every = [*own, *(name + QUARANTINE for name in refused)]
    columns = ",\n  ".join(f"CAST({name} AS {TYPES[kind]}) AS {name}" for name, kind, _ in COLUMNS)
    return f"""WITH snapshots AS (
{_UNION.join(map(_snapshots, every))}
), parts AS (
  SELECT name, snapshot_id, committed_at, published, summary,
    element_at(summary, 'headwater.attempt') AS attempt,
    {_number("added-records")} AS added,
    {_number("deleted-records")} + {_number("added-position-deletes")} AS removed,
    {_number("total-records")} - {_number("total-position-deletes")} AS total
  FROM snapshots WHERE operation <> 'replace'
), whole AS (
  SELECT name, max(element_at(summary, 'headwater.view')) AS owner,
    max(committed_at) AS committed_at, max(snapshot_id) FILTER (WHERE published) AS snapshot_id,
    max(CAST(element_at(summary, 'headwater.epoch') AS BIGINT)) AS epoch,
    max(CAST(element_at(summary, 'headwater.watermark') AS BIGINT)) AS micros,
    max(CAST(element_at(summary, 'headwater.delay') AS BIGINT)) AS delay,
    max(element_at(summary, 'headwater.cut_from')) AS cut_from,
    max(element_at(summary, 'headwater.cut_to')) AS cut_to,
    max(CAST(json_extract_scalar(element_at(summary, 'headwater.counts'), '$.late') AS BIGINT))
      AS rows_late,
    sum(added) AS rows_out, sum(removed) AS rows_removed,
    max_by(total, committed_at) AS rows_total
  FROM parts WHERE attempt IS NOT NULL GROUP BY name, attempt HAVING bool_or(published)
), numbered AS (
  SELECT *, sum(rows_out + rows_removed) OVER (PARTITION BY name ORDER BY committed_at) AS changed,
    min(epoch) OVER (PARTITION BY name) AS first_kept,
    sum(IF(name LIKE '%{_QUARANTINES}' ESCAPE '!', rows_out))
      OVER (PARTITION BY regexp_replace(name, '{QUARANTINE}$'), epoch) AS rows_quarantined
  FROM whole
), read AS (
  SELECT done.*, place.name AS input_name, input.committed_at AS input_at,
    input.changed AS input_changed, input.first_kept AS input_first_kept,
    lag(input.changed) IGNORE NULLS OVER (PARTITION BY done.name, place.name ORDER BY done.epoch)
      AS changed_before,
    json_extract_scalar(done.cut_from, concat('$["', place.name, '"]')) IS NULL AS from_start
  FROM numbered AS done
  LEFT JOIN UNNEST(CAST(json_parse(done.cut_to) AS MAP(VARCHAR, VARCHAR))) AS place (name, at)
    ON true
  LEFT JOIN numbered AS input
    ON input.name = place.name AND CAST(input.snapshot_id AS VARCHAR) = place.at
  WHERE done.name NOT LIKE '%{_QUARANTINES}' ESCAPE '!'
), counted AS (
  SELECT name AS view, epoch, committed_at, rows_out, rows_removed, rows_total, rows_late,
    rows_quarantined, snapshot_id, from_unixtime(micros / 1e6) AS watermark,
    delay / 1e6 AS adaptive_delay,
    CASE WHEN owner <> name THEN NULL
      WHEN bool_or(input_name = name) THEN rows_out + coalesce(rows_quarantined, 0)
      ELSE sum(input_changed
        - coalesce(changed_before, IF(from_start OR input_first_kept = 0, 0))) END AS rows_in,
    date_diff('millisecond', max(input_at), committed_at) / 1e3 AS freshness
  FROM read
  GROUP BY name, owner, epoch, committed_at, rows_out, rows_removed, rows_total, rows_late,
    rows_quarantined, snapshot_id, micros, delay
)
SELECT {columns}
FROM counted"""


_QUARANTINES = QUARANTINE.replace("_", "!_")
_UNION = "\n  UNION ALL\n"


def _number(name: str) -> str:
    return f"coalesce(CAST(element_at(summary, '{name}') AS BIGINT), 0)"


def _snapshots(table: str) -> str:
    return (
        f"  SELECT '{table}' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary,"
        f' s.snapshot_id IN (SELECT h.snapshot_id FROM "{table}$history" AS h'
        f' WHERE h.is_current_ancestor) AS published FROM "{table}$snapshots" AS s'
    )
