-- Four weeks of card payments. Five of the merchants turn bad for three days each: every card that
-- pays there is robbed within the hour, by a burst of payments that its holder denies days later. The
-- risk of the merchant is raised to 9 four days after it turned, when everything is over.
SET VARIABLE cards = at_size(150, 50000);
SET VARIABLE merchants = at_size(100, 5000);
CREATE TEMP MACRO at_hour(hours) AS TIMESTAMPTZ '2026-02-02 00:00:00Z' + seconds(3600 * hours::DOUBLE);
CREATE TEMP MACRO turned(merchant) AS 48 + 100 * merchant;

CREATE TEMP TABLE payment AS
SELECT
  i, 0 AS n, pick(i, 'card', getvariable('cards')) AS card,
  pick(i, 'merchant', getvariable('merchants')) AS merchant,
  1 + exponential(i, 'amount', 30) AS amount,
  672 * uniform(i, 'time') AS hours
FROM range(100 * getvariable('cards')) AS r(i);

CREATE TEMP TABLE stolen AS
SELECT i, r.n, card, merchant, 100 + pick(i * 10 + r.n, 'booty', 300), hours + r.n * 0.05 AS hours
FROM payment, range(1, 6) AS r(n)
WHERE merchant < 5 AND hours BETWEEN turned(merchant) AND turned(merchant) + 72;

CREATE TEMP TABLE payments AS
SELECT
  payment_id,
  card,
  merchant,
  amount::DECIMAL(10, 2) AS amount,
  at_hour(hours) AS paid_at,
  arrives(payment_id, delayed(payment_id, paid_at, 0.03, 1800)) AS _arrivals,
  n > 0 AS denied
FROM (
  SELECT row_number() OVER (ORDER BY hours, i, n) AS payment_id, *
  FROM (FROM payment UNION ALL FROM stolen)
);

CREATE TEMP TABLE chargebacks AS
SELECT payment_id, reported_at, arrives(payment_id, reported_at) AS _arrivals
FROM (
  SELECT payment_id, paid_at + seconds(86400.0 * CASE
    -- One holder in twenty is away, and denies the payment when it is too late.
    WHEN pick(payment_id, 'away', 20) = 0 THEN 8 ELSE 1 + 4 * uniform(payment_id, 'noticed') END) AS reported_at
  FROM payments WHERE denied
);
ALTER TABLE payments DROP denied;

CREATE TEMP TABLE merchants AS
SELECT i AS merchant, pick(i * 30 + n, 'risk', 4) AS risk,
  at_hour(n * 24 + CASE n WHEN 0 THEN 0 ELSE 24 * uniform(i * 30 + n, 'reviewed') END) AS changed_at,
  false AS deleted, [changed_at] AS _arrivals
FROM range(getvariable('merchants')) AS r(i), range(28) AS d(n)
WHERE n = 0 OR (pick(i * 30 + n, 'reviewed', 7) = 0 AND (i >= 5 OR n * 24 < turned(i)))
UNION ALL
SELECT i, 9, at_hour(turned(i) + 96), false, [at_hour(turned(i) + 96), at_hour(turned(i) + 97)] FROM range(5) AS r(i)
ORDER BY changed_at;
