CREATE STREAMING VIEW pairs AS
SELECT first_id, last_id
FROM orders MATCH_RECOGNIZE (
  ORDER BY ordered_at
  MEASURES a.order_id AS first_id, b.order_id AS last_id
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (a b)
  DEFINE b AS quantity > 1
) AS m
EMIT ON WINDOW CLOSE;
