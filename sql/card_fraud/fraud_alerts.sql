-- A standing alert is a view; a sink delivers its rows.
CREATE STREAMING VIEW fraud_alerts
COMMENT 'Payments that look like fraud, with the reason'
AS
SELECT
  payment_id,
  card,
  paid_at,
  amount,
  CASE
    WHEN in_a_minute > 5 THEN 'more than 5 payments in a minute'
    WHEN spent > 5000 THEN 'more than 5,000 EUR in 10 minutes'
    ELSE 'faster than 500 km/h'
  END AS reason
FROM card_activity
WHERE in_a_minute > 5 OR spent > 5000 OR (distance > 100 AND distance > 500 * hours);
