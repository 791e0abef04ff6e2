-- The balance after each entry: what an account held at any time is in its newest row up to then.
CREATE STREAMING VIEW statements (balance COMMENT 'EUR, after this entry')
AS
SELECT
  account, booked_at, transfer_id, amount,
  sum(amount) OVER (
    PARTITION BY account ORDER BY booked_at, transfer_id ROWS UNBOUNDED PRECEDING
  ) AS balance
FROM entries;

-- An account without an entry up to then held nothing.
CREATE STREAMING VIEW answers (balance COMMENT 'EUR, at the time of balance_of')
AS
SELECT i.inquiry_id, i.account, i.balance_of, i.asked_at, coalesce(s.balance, 0) AS balance
FROM (SELECT DISTINCT inquiry_id, account, balance_of, asked_at FROM inquiries) AS i
ASOF LEFT JOIN statements AS s ON s.account = i.account AND s.booked_at <= i.balance_of;
