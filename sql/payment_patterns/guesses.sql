-- Somebody guesses the security code: three failures or more, and perhaps a success that ends them.
CREATE STREAMING VIEW guesses (
  failures COMMENT 'payments that failed in a row',
  taken COMMENT 'USD that the guess brought; NULL if none was right'
)
COMMENT 'Three or more failed payments of a card within five minutes'
AS
SELECT card, began_at, ended_at, failures, taken
FROM payments_once MATCH_RECOGNIZE (
  PARTITION BY card
  ORDER BY paid_at
  MEASURES
    FIRST(failure.paid_at) AS began_at,
    LAST(paid_at) AS ended_at,
    count(failure.payment_id) AS failures,
    success.amount AS taken
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (failure{3,} success?) WITHIN INTERVAL '5' MINUTE
  DEFINE
    failure AS NOT approved,
    success AS approved
)
EMIT ON WINDOW CLOSE;
