-- A day of card payments. Holders pay near home; of the cards, one in twenty is stolen: a machine
-- tries it out within seconds, somebody empties it within minutes, or it pays in two far places.
SET VARIABLE cards = at_size(400, 20000);

CREATE TEMP TABLE payment AS
SELECT
  pick(i, 'card', getvariable('cards')) AS card,
  seconds(86400 * uniform(i, 'time')) AS since_midnight,
  1 + exponential(i, 'amount', 40) AS amount,
  normal(i, 'north', 0, 0.05) AS north,
  normal(i, 'east', 0, 0.05) AS east
FROM range(50 * getvariable('cards')) AS r(i)
UNION ALL
SELECT
  card,
  seconds(80000 * uniform(card, 'theft') + n * CASE kind WHEN 'tried out' THEN 4 ELSE 70 END),
  CASE kind WHEN 'tried out' THEN 1 WHEN 'emptied' THEN 900 + pick(card + n, 'booty', 200) ELSE 80 END,
  CASE WHEN kind = 'far' AND n > 4 THEN 30 ELSE 0 END,
  0
FROM (
  SELECT card, one_of(card, 'kind', ['tried out', 'emptied', 'far']) AS kind
  FROM range(getvariable('cards')) AS c(card) WHERE pick(card, 'stolen', 20) = 0
), range(8) AS r(n);

CREATE TEMP TABLE payments AS
SELECT
  payment_id,
  card,
  amount::DECIMAL(10, 2) AS amount,
  round(normal(card, 'latitude', 48, 4) + north, 4) AS latitude,
  round(normal(card, 'longitude', 8, 6) + east, 4) AS longitude,
  TIMESTAMPTZ '2026-03-02 00:00:00Z' + since_midnight AS paid_at,
  -- Terminals that lose their connection send their payments later.
  arrives(payment_id, delayed(payment_id, paid_at, 0.03, 180)) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY since_midnight, card) AS payment_id, * FROM payment);
