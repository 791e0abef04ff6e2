-- Nobody crosses the Atlantic in five minutes. Payments elsewhere may come between; of several in
-- New York the last that is near enough to the one in London counts.
CREATE STREAMING VIEW two_places (
  seconds COMMENT 'between the two payments',
  amount COMMENT 'USD, of the payment in London'
)
COMMENT 'Cards that pay in New York and within five minutes in London'
AS
SELECT
  card,
  new_york_at,
  london_at,
  date_diff('second', new_york_at, london_at) AS seconds,
  amount
FROM payments_once MATCH_RECOGNIZE (
  PARTITION BY card
  ORDER BY paid_at
  MEASURES
    new_york.paid_at AS new_york_at,
    london.paid_at AS london_at,
    london.amount AS amount
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (new_york elsewhere*? london) WITHIN INTERVAL '5' MINUTE
  DEFINE
    new_york AS city = 'New York',
    elsewhere AS city <> 'New York',
    london AS city = 'London'
)
EMIT ON WINDOW CLOSE;
