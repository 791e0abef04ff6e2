CREATE STREAMING VIEW falls LATE ROWS ACCEPT FOR INTERVAL '30' SECOND AS
SELECT customer, began, ended, least, lost, notes
FROM orders MATCH_RECOGNIZE (
  PARTITION BY customer
  ORDER BY ordered_at
  MEASURES
    FIRST(ordered_at) AS began, LAST(down.ordered_at) AS ended, min(down.amount) AS least,
    FIRST(amount) - LAST(amount) AS lost, array_agg(CLASSIFIER()) AS notes
  PATTERN (high down{2,} up?)
  WITHIN INTERVAL '90' SECOND
  DEFINE down AS amount < PREV(amount) AND amount > 0, up AS up.amount > high.amount
) AS m
WHERE lost > 10
EMIT ON WINDOW CLOSE;
