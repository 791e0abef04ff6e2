-- Each payment once, with what the card did before it. A late payment corrects the rows after it.
CREATE STREAMING VIEW card_activity (
  in_a_minute COMMENT 'payments with this card in the minute up to this one',
  spent COMMENT 'EUR in the 10 minutes up to this payment',
  distance COMMENT 'kilometres from the payment before',
  hours COMMENT 'since the payment before'
)
COMMENT 'Payments with the activity of their card'
AS
SELECT
  payment_id,
  card,
  paid_at,
  amount,
  count(*) OVER (
    PARTITION BY card ORDER BY paid_at
    RANGE BETWEEN INTERVAL '1' MINUTE PRECEDING AND CURRENT ROW
  ) AS in_a_minute,
  sum(amount) OVER (
    PARTITION BY card ORDER BY paid_at
    RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW
  ) AS spent,
  kilometres(
    lag(latitude) OVER (PARTITION BY card ORDER BY paid_at, payment_id),
    lag(longitude) OVER (PARTITION BY card ORDER BY paid_at, payment_id),
    latitude, longitude
  ) AS distance,
  date_diff(
    'second', lag(paid_at) OVER (PARTITION BY card ORDER BY paid_at, payment_id), paid_at
  ) / 3600e0 AS hours
FROM (
  SELECT payment_id, card, amount, latitude, longitude, paid_at FROM payments
  QUALIFY row_number() OVER (PARTITION BY payment_id ORDER BY paid_at) = 1
) AS p;
