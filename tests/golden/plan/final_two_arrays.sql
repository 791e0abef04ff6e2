CREATE STREAMING VIEW final_two_arrays AS
SELECT window_end, u.side, sum(u.sign * u.quantity) AS quantity
FROM TUMBLE(
  (SELECT e.side, e.sign, o.quantity, o.ordered_at
   FROM orders AS o CROSS JOIN UNNEST(ARRAY['in', 'out'], ARRAY[1, -1]) AS e (side, sign)),
  ordered_at, INTERVAL '1' HOUR
) AS u
GROUP BY window_end, side
EMIT ON WINDOW CLOSE;
