-- Transfers that came in time, final. What came later is in late_transfers, repeats included.
CREATE STREAMING VIEW booked
LATE ROWS DROP INTO late_transfers
AS
SELECT DISTINCT transfer_id, debtor, creditor, amount, booked_at
FROM transfers
EMIT ON WINDOW CLOSE;

-- At the end of an hour, the balance of every account that moved. A snapshot never changes.
CREATE STREAMING VIEW snapshots (balance COMMENT 'EUR, at the end of the hour')
AS
SELECT
  account, window_end AS taken_at,
  sum(sum(amount)) OVER (PARTITION BY account ORDER BY window_end) AS balance
FROM TUMBLE(
  (
    SELECT e.account, e.amount, b.booked_at
    FROM booked AS b
    CROSS JOIN UNNEST(ARRAY[debtor, creditor], ARRAY[-amount, amount]) AS e (account, amount)
  ), booked_at, INTERVAL '1' HOUR
)
GROUP BY account, window_end
EMIT ON WINDOW CLOSE;

