-- The relation "commits" of the namespace "shop": one row for each commit of each table and view.
-- Headwater creates this view for Trino and keeps it complete when tables are added. It is shown here
-- for readers who want to know what the columns mean, or who have no rights to read the view.
CREATE VIEW lake.shop.commits AS
WITH snapshots AS (
  SELECT 'customers' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary, s.snapshot_id IN (SELECT h.snapshot_id FROM "customers$history" AS h WHERE h.is_current_ancestor) AS published FROM "customers$snapshots" AS s
  UNION ALL
  SELECT 'lifetime_value' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary, s.snapshot_id IN (SELECT h.snapshot_id FROM "lifetime_value$history" AS h WHERE h.is_current_ancestor) AS published FROM "lifetime_value$snapshots" AS s
  UNION ALL
  SELECT 'low_stock' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary, s.snapshot_id IN (SELECT h.snapshot_id FROM "low_stock$history" AS h WHERE h.is_current_ancestor) AS published FROM "low_stock$snapshots" AS s
  UNION ALL
  SELECT 'orders' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary, s.snapshot_id IN (SELECT h.snapshot_id FROM "orders$history" AS h WHERE h.is_current_ancestor) AS published FROM "orders$snapshots" AS s
  UNION ALL
  SELECT 'products' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary, s.snapshot_id IN (SELECT h.snapshot_id FROM "products$history" AS h WHERE h.is_current_ancestor) AS published FROM "products$snapshots" AS s
  UNION ALL
  SELECT 'revenue_per_minute' AS name, s.snapshot_id, s.committed_at, s.operation, s.summary, s.snapshot_id IN (SELECT h.snapshot_id FROM "revenue_per_minute$history" AS h WHERE h.is_current_ancestor) AS published FROM "revenue_per_minute$snapshots" AS s
), parts AS (
  SELECT name, snapshot_id, committed_at, published, summary,
    element_at(summary, 'headwater.attempt') AS attempt,
    coalesce(CAST(element_at(summary, 'added-records') AS BIGINT), 0) AS added,
    coalesce(CAST(element_at(summary, 'deleted-records') AS BIGINT), 0) + coalesce(CAST(element_at(summary, 'added-position-deletes') AS BIGINT), 0) AS removed,
    coalesce(CAST(element_at(summary, 'total-records') AS BIGINT), 0) - coalesce(CAST(element_at(summary, 'total-position-deletes') AS BIGINT), 0) AS total
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
    sum(IF(name LIKE '%!_!_quarantine' ESCAPE '!', rows_out))
      OVER (PARTITION BY regexp_replace(name, '__quarantine$'), epoch) AS rows_quarantined
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
  WHERE done.name NOT LIKE '%!_!_quarantine' ESCAPE '!'
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
SELECT CAST(view AS VARCHAR) AS view,
  CAST(epoch AS BIGINT) AS epoch,
  CAST(watermark AS TIMESTAMP(6) WITH TIME ZONE) AS watermark,
  CAST(committed_at AS TIMESTAMP(6) WITH TIME ZONE) AS committed_at,
  CAST(freshness AS DOUBLE) AS freshness,
  CAST(rows_in AS BIGINT) AS rows_in,
  CAST(rows_out AS BIGINT) AS rows_out,
  CAST(rows_removed AS BIGINT) AS rows_removed,
  CAST(rows_total AS BIGINT) AS rows_total,
  CAST(rows_late AS BIGINT) AS rows_late,
  CAST(rows_quarantined AS BIGINT) AS rows_quarantined,
  CAST(snapshot_id AS BIGINT) AS snapshot_id,
  CAST(adaptive_delay AS DOUBLE) AS adaptive_delay
FROM counted;
