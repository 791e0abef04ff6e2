CREATE STREAMING VIEW steps AS
SELECT customer, ordered_at, order_id, step, seen, next_one
FROM (SELECT customer, ordered_at, order_id, quantity FROM orders WHERE paid) MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ordered_at
  MEASURES
    CLASSIFIER() AS step, RUNNING count(both.*) AS seen, NEXT(FINAL LAST(b.quantity, 1), 2) AS next_one
  ALL ROWS PER MATCH WITH UNMATCHED ROWS
  AFTER MATCH SKIP TO LAST end
  PATTERN (^ a end | (a (b | c){2,3}?)+? PERMUTE(b, end))
  WITHIN INTERVAL '5' MINUTE
  SUBSET both = (a, b)
  DEFINE
    a AS quantity > 1, b AS count(*) < 4 AND quantity <> a.quantity, c AS quantity = 2
) AS m
EMIT ON WINDOW CLOSE;
