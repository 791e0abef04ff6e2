CREATE STREAMING VIEW fraud_by_reason (amount COMMENT 'EUR')
COMMENT 'Alerts, cards and amount per reason'
AS
SELECT reason, count(*) AS alerts, count(DISTINCT card) AS cards, sum(amount) AS amount
FROM fraud_alerts
GROUP BY reason;
