-- The balance as a service rebuilds it that does not read the log from its beginning: the newest
-- snapshot, and the entries that it lacks. Those are the newer ones, and the ones that came late.
CREATE STREAMING VIEW rebuilt (
  from_snapshot COMMENT 'EUR',
  since COMMENT 'EUR, of the entries that the snapshot lacks',
  balance COMMENT 'EUR, from_snapshot + since',
  by_log COMMENT 'EUR, the balance by the whole log'
)
COMMENT 'Balances from snapshots, beside those from the log'
AS
WITH newest AS (
  SELECT account, max(taken_at) AS taken_at, max_by(balance, taken_at) AS balance
  FROM snapshots GROUP BY account
),
lacking AS (
  SELECT e.account, sum(e.amount) AS amount
  FROM entries AS e LEFT JOIN newest AS n ON n.account = e.account
  WHERE n.taken_at IS NULL OR e.booked_at >= n.taken_at
    OR NOT EXISTS (SELECT 1 FROM booked AS b WHERE b.transfer_id = e.transfer_id)
  GROUP BY e.account
)
SELECT
  b.account,
  n.taken_at,
  coalesce(n.balance, 0) AS from_snapshot,
  coalesce(l.amount, 0) AS since,
  coalesce(n.balance, 0) + coalesce(l.amount, 0) AS balance,
  b.balance AS by_log
FROM balances AS b
LEFT JOIN newest AS n ON n.account = b.account
LEFT JOIN lacking AS l ON l.account = b.account;
