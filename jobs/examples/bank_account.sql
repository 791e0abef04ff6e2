-- A day of a bank. Every account is opened with a deposit, and pays others all day. Shortly before
-- midnight the bank settles with every account so that it holds exactly 1,000 EUR: what the views
-- say in the end is therefore known.
SET VARIABLE accounts = at_size(400, 200000);

CREATE TEMP TABLE payment AS
SELECT
  0 AS debtor,
  account AS creditor,
  (100 + pick(account, 'opening', 90000)) / 100.0 AS amount,
  seconds(3600 * uniform(account, 'opened')) AS since_midnight
FROM range(1, getvariable('accounts') + 1) AS r(account)
UNION ALL
SELECT
  1 + pick(i, 'debtor', getvariable('accounts')),
  -- One in five goes to a cash machine, or comes from one.
  CASE WHEN pick(i, 'cash', 5) = 0 THEN 0
    ELSE 1 + (pick(i, 'debtor', getvariable('accounts')) + 1
      + pick(i, 'creditor', getvariable('accounts') - 1)) % getvariable('accounts') END,
  round(1 + exponential(i, 'amount', 60), 2),
  seconds(3600 + 81000 * uniform(i, 'time'))
FROM range(25 * getvariable('accounts')) AS r(i);

CREATE TEMP TABLE settlement AS
SELECT account, sum(amount) - 1000 AS surplus
FROM (
  SELECT creditor AS account, amount::DECIMAL(12, 2) AS amount FROM payment
  UNION ALL SELECT debtor, -amount::DECIMAL(12, 2) FROM payment
) WHERE account > 0 GROUP BY account;

CREATE TEMP TABLE transfers AS
SELECT
  transfer_id,
  debtor,
  creditor,
  amount::DECIMAL(12, 2) AS amount,
  TIMESTAMPTZ '2026-03-02 00:00:00Z' + since_midnight AS booked_at,
  -- A branch that loses its connection sends its transfers half an hour later.
  arrives(transfer_id, delayed(transfer_id, booked_at, 0.05, 1800)) AS _arrivals
FROM (
  SELECT row_number() OVER (ORDER BY since_midnight, debtor, creditor, amount) AS transfer_id, *
  FROM (
    FROM payment
    UNION ALL
    SELECT
      CASE WHEN surplus > 0 THEN account ELSE 0 END,
      CASE WHEN surplus > 0 THEN 0 ELSE account END,
      abs(surplus),
      seconds(85000 + 1000 * uniform(account, 'settled'))
    FROM settlement WHERE surplus <> 0
  )
);

-- Questions about the past; every other one is about the very moment of a transfer.
CREATE TEMP TABLE inquiries AS
SELECT
  i AS inquiry_id,
  creditor AS account,
  booked_at - seconds((i % 2) * exponential(i, 'before', 1800)) AS balance_of,
  booked_at + seconds(exponential(i, 'asked', 7200)) AS asked_at,
  arrives(i, asked_at) AS _arrivals
FROM range(getvariable('accounts')) AS r(i)
JOIN transfers ON transfer_id = 1 + pick(i, 'question', 20 * getvariable('accounts'));
