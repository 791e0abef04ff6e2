-- A pattern counts rows: a payment that is delivered twice must be one row. Final, as what reads
-- it is final; payments that come after the watermark are set aside and counted.
CREATE STREAMING VIEW payments_once
COMMENT 'Each payment once, in time'
LATE ROWS DROP INTO late_payments
AS
SELECT DISTINCT payment_id, card, city, amount, approved, paid_at
FROM payments
EMIT ON WINDOW CLOSE;
