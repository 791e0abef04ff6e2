"""The relation ``commits``: what every commit of a namespace says of itself, as columns.

In: the tables of a namespace. Out: a query in Trino's SQL over their ``$snapshots``, one row per
commit. Parts of one commit are one row, staged parts that were never published are none, and
neither is maintenance. Knows no Spark: readers without a JVM have the same relation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from headwater.lake.layout import QUARANTINE, SIDE_TABLES

COMMITS = "commits"
"""The name of the relation; a project that has a table of that name goes without."""

DIALECT = "trino"
"""In whose SQL the view is written."""

COLUMNS: Sequence[tuple[str, str, str]] = (
    ("view", "string", "the view or landed table"),
    ("epoch", "long", "number of the commit, from 0"),
    ("watermark", "timestamptz", "no more rows with an event time below this were expected"),
    ("committed_at", "timestamptz", "when the rows became visible"),
    ("freshness", "double", "seconds from the newest commit of an input that it has read, to it"),
    ("rows_in", "long", "changed rows of its inputs that it has read; of a landed table, new rows"),
    ("rows_out", "long", "rows that it added"),
    ("rows_removed", "long", "rows that it removed or replaced"),
    ("rows_total", "long", "rows of the table after it"),
    ("rows_late", "long", "rows that were too late"),
    ("rows_quarantined", "long", "rows that could not be taken"),
    ("snapshot_id", "long", "its snapshot, for FOR VERSION AS OF"),
)
"""Name, type of Iceberg and comment of each column."""

_TYPES = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "double": "DOUBLE",
    "timestamptz": "TIMESTAMP(6) WITH TIME ZONE",
}


def commits_sql(tables: Collection[str]) -> str:
    """Return the view's query, in Trino's SQL.

    Args:
        tables: the tables of the namespace, side tables included.
    """
    own = sorted(name for name in tables if not name.endswith(SIDE_TABLES) and name != COMMITS)
    refused = [name for name in own if name + QUARANTINE in tables]
    every = [*own, *(name + QUARANTINE for name in refused)]
    columns = ",\n  ".join(f"CAST({name} AS {_TYPES[kind]}) AS {name}" for name, kind, _ in COLUMNS)
    return f"""WITH snapshots AS (
{_UNION.join(map(_snapshots, every))}
), parts AS (
  SELECT name, snapshot_id, committed_at, published, summary,
    element_at(summary, 'headwater.attempt') AS attempt,
    {_number("added-records")} AS added,
    {_number("deleted-records")} + {_number("added-position-deletes")} AS removed,
    {_number("total-records")} - {_number("total-position-deletes")} AS total
  FROM snapshots WHERE operation <> 'replace'
), done AS (
  SELECT name AS view, attempt, max(committed_at) AS committed_at,
    max(snapshot_id) FILTER (WHERE published) AS snapshot_id,
    max(CAST(element_at(summary, 'headwater.epoch') AS BIGINT)) AS epoch,
    max(CAST(element_at(summary, 'headwater.watermark') AS BIGINT)) AS micros,
    max(element_at(summary, 'headwater.cut_from')) AS cut_from,
    max(element_at(summary, 'headwater.cut_to')) AS cut_to,
    max(CAST(json_extract_scalar(element_at(summary, 'headwater.counts'), '$.late') AS BIGINT))
      AS rows_late,
    sum(added) AS rows_out, sum(removed) AS rows_removed,
    max_by(total, committed_at) AS rows_total
  FROM parts WHERE attempt IS NOT NULL GROUP BY name, attempt HAVING bool_or(published)
), places AS (
  SELECT p.name, p.snapshot_id, p.committed_at,
    sum(p.added + p.removed) OVER (PARTITION BY p.name ORDER BY p.committed_at) AS changed
  FROM parts AS p JOIN done AS d ON d.view = p.name AND d.attempt = p.attempt
), read AS (
  SELECT d.view, d.attempt, max(ending.committed_at) AS newest,
    sum(ending.changed - coalesce(beginning.changed, 0)) AS rows_in
  FROM done AS d
  CROSS JOIN UNNEST(CAST(json_parse(d.cut_to) AS MAP(VARCHAR, VARCHAR))) AS c (input, place)
  JOIN places AS ending
    ON ending.name = c.input AND CAST(ending.snapshot_id AS VARCHAR) = c.place
  LEFT JOIN places AS beginning
    ON beginning.name = c.input AND CAST(beginning.snapshot_id AS VARCHAR)
      = element_at(CAST(json_parse(d.cut_from) AS MAP(VARCHAR, VARCHAR)), c.input)
  GROUP BY d.view, d.attempt
), counted AS (
  SELECT d.view, d.epoch, d.committed_at, d.rows_out, d.rows_removed, d.rows_total, d.rows_late,
    q.rows_out AS rows_quarantined, d.snapshot_id,
    from_unixtime(d.micros / 1e6) AS watermark,
    coalesce(r.rows_in, d.rows_out + coalesce(q.rows_out, 0)) AS rows_in,
    date_diff('millisecond', r.newest, d.committed_at) / 1e3 AS freshness
  FROM done AS d
  LEFT JOIN read AS r ON r.view = d.view AND r.attempt = d.attempt
  LEFT JOIN done AS q ON q.view = concat(d.view, '{QUARANTINE}') AND q.epoch = d.epoch
  WHERE d.view NOT LIKE '%{QUARANTINE.replace("_", "!_")}' ESCAPE '!'
)
SELECT {columns}
FROM counted"""


_UNION = "\n  UNION ALL\n"


def _number(name: str) -> str:
    return f"coalesce(CAST(element_at(summary, '{name}') AS BIGINT), 0)"


def _snapshots(table: str) -> str:
    return (
        f"  SELECT '{table}' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary,"
        f' s.snapshot_id IN (SELECT h.snapshot_id FROM "{table}$history" AS h'
        f' WHERE h.is_current_ancestor) AS published FROM "{table}$snapshots" AS s'
    )
