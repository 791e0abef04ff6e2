CREATE STREAMING VIEW payments_once
COMMENT 'Each payment once, final; payments that come too late are in late_payments'
LATE ROWS DROP INTO late_payments
AS
SELECT DISTINCT payment_id, card, merchant, amount, paid_at
FROM payments
EMIT ON WINDOW CLOSE;

-- What the card did BEFORE a payment. The frames end a millisecond earlier: neither the payment
-- itself nor another one of the same instant is in its own features.
CREATE STREAMING VIEW payment_features (
  hour_payments COMMENT 'payments with the card in the hour before',
  hour_amount COMMENT 'EUR in the hour before; NULL without payments',
  day_mean COMMENT 'mean payment of the 24 hours before, EUR'
)
COMMENT 'Payments with what was known of their card at that time'
AS
SELECT
  payment_id, card, merchant, amount, paid_at,
  count(*) OVER hour_before AS hour_payments,
  sum(amount) OVER hour_before AS hour_amount,
  avg(CAST(amount AS DOUBLE)) OVER day_before AS day_mean
FROM payments_once
WINDOW
  hour_before AS (
    PARTITION BY card ORDER BY paid_at
    RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND INTERVAL '1' MILLISECOND PRECEDING
  ),
  day_before AS (
    PARTITION BY card ORDER BY paid_at
    RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND INTERVAL '1' MILLISECOND PRECEDING
  )
EMIT ON WINDOW CLOSE;
