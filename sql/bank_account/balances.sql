-- Each transfer once, as two entries that add up to 0. A row of the log becomes both of them in one
-- commit, so no reader ever sees money that has left one account and not reached the other.
CREATE STREAMING VIEW entries (amount COMMENT 'EUR; negative for the account that pays')
COMMENT 'Double-entry bookkeeping of the log'
AS
SELECT t.transfer_id, e.account, e.amount, t.booked_at
FROM (SELECT DISTINCT transfer_id, debtor, creditor, amount, booked_at FROM transfers) AS t
CROSS JOIN UNNEST(ARRAY[debtor, creditor], ARRAY[-amount, amount]) AS e (account, amount);

CREATE STREAMING VIEW balances (balance COMMENT 'EUR', entries COMMENT 'entries so far')
COMMENT 'What each account holds now'
AS
SELECT account, sum(amount) AS balance, count(*) AS entries
FROM entries
GROUP BY account;

-- Money is moved, never made: the total is 0 in every commit.
CREATE STREAMING VIEW trial_balance (total COMMENT 'EUR, always 0', in_accounts COMMENT 'EUR')
AS
SELECT sum(balance) AS total, sum(balance) FILTER (WHERE account <> 0) AS in_accounts, count(*) AS accounts
FROM balances;
