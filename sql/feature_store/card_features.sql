-- The same features of a card NOW, for a model that decides about its next payment. Rows leave the
-- sums as the watermark passes them; a card without payments in the last day has no row.
CREATE STREAMING VIEW cards_last_hour (amount COMMENT 'EUR')
AS
SELECT card, count(*) AS payments, sum(amount) AS amount
FROM (
  SELECT DISTINCT payment_id, card, amount, paid_at
  FROM payments WHERE paid_at > watermark() - INTERVAL '1' HOUR
) AS p
GROUP BY card;

CREATE STREAMING VIEW card_features (
  hour_payments COMMENT 'payments in the last hour',
  hour_amount COMMENT 'EUR in the last hour; NULL without payments',
  day_mean COMMENT 'mean payment of the last 24 hours, EUR'
)
COMMENT 'Features of a card now, by the watermark'
AS
SELECT d.card, coalesce(h.payments, 0) AS hour_payments, h.amount AS hour_amount, d.day_mean
FROM (
  SELECT card, avg(CAST(amount AS DOUBLE)) AS day_mean
  FROM (
    SELECT DISTINCT payment_id, card, amount, paid_at
    FROM payments WHERE paid_at > watermark() - INTERVAL '24' HOUR
  ) AS p
  GROUP BY card
) AS d
LEFT JOIN cards_last_hour AS h ON h.card = d.card;
