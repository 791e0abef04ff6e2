-- A day of card payments. One card in five has an incident. Two kinds of incident are crimes; the
-- other three only look like it: a longer way, slower failures, or two failures.
SET VARIABLE cards = at_size(400, 25000);

CREATE TEMP TABLE script AS
SELECT kind, city, minute, approved FROM (VALUES
  ('copied', 'New York', 0, true), ('copied', 'Boston', 1, true), ('copied', 'London', 4, true),
  ('longer way', 'New York', 0, true), ('longer way', 'London', 6, true),
  ('guessed', 'Lagos', 0, false), ('guessed', 'Lagos', 1, false), ('guessed', 'Lagos', 2, false),
  ('guessed', 'Lagos', 3, true),
  ('slower', 'Paris', 0, false), ('slower', 'Paris', 3, false), ('slower', 'Paris', 6, false),
  ('forgotten', 'Paris', 0, false), ('forgotten', 'Paris', 1, false), ('forgotten', 'Paris', 2, true)
) AS v (kind, city, minute, approved);

CREATE TEMP TABLE payment AS
SELECT
  pick(i, 'card', getvariable('cards')) AS card,
  one_of(card, 'home', ['New York', 'London', 'Paris', 'Chicago', 'Lisbon']) AS city,
  1 + exponential(i, 'amount', 40) AS amount,
  uniform(i, 'approved') > 0.03 AS approved,
  seconds(86400 * uniform(i, 'time')) AS since_midnight
FROM range(40 * getvariable('cards')) AS r(i)
UNION ALL
SELECT
  card, city, 200 + pick(card, 'price', 800), approved,
  seconds(80000 * uniform(card, 'begin') + 60 * minute)
FROM (
  SELECT
    card,
    one_of(card, 'kind', ['copied', 'guessed', 'longer way', 'slower', 'forgotten']) AS kind
  FROM range(getvariable('cards')) AS c(card) WHERE pick(card, 'incident', 5) = 0
) JOIN script USING (kind)
-- Every second holder does not stop in Boston, and every second guess is never right.
WHERE card % 2 = 0 OR NOT (city = 'Boston' OR kind = 'guessed' AND approved);

CREATE TEMP TABLE payments AS
SELECT
  payment_id,
  card,
  city,
  amount::DECIMAL(10, 2) AS amount,
  approved,
  TIMESTAMPTZ '2026-03-02 00:00:00Z' + since_midnight AS paid_at,
  arrives(payment_id, CASE
    -- Payments on a ferry are sent in the harbour, hours later.
    WHEN amount < 200 AND since_midnight < INTERVAL '16' HOUR AND pick(payment_id, 'ferry', 400) = 0
      THEN paid_at + seconds(14400 + 7200 * uniform(payment_id, 'harbour'))
    ELSE delayed(payment_id, paid_at, 0.03, 60) END) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY since_midnight, card) AS payment_id, * FROM payment);
