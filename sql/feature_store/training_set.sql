-- One row per payment, final: the features and the risk of the merchant as they were when it was
-- made, and the label. A holder has seven days to deny a payment, so a row appears after seven days.
CREATE STREAMING VIEW training_set (
  risk COMMENT 'of the merchant when the payment was made, 0 to 9',
  fraud COMMENT 'denied by the holder within 7 days'
)
COMMENT 'Features and label per payment, without a look into its future'
AS
SELECT
  f.payment_id, f.merchant, f.paid_at, f.amount, f.hour_payments, f.hour_amount, f.day_mean, m.risk,
  EXISTS (
    SELECT 1 FROM chargebacks AS c
    WHERE c.payment_id = f.payment_id
      AND c.reported_at BETWEEN f.paid_at AND f.paid_at + INTERVAL '7' DAY
  ) AS fraud
FROM payment_features AS f
LEFT JOIN merchants FOR SYSTEM_TIME AS OF f.paid_at AS m ON m.merchant = f.merchant
EMIT ON WINDOW CLOSE;
