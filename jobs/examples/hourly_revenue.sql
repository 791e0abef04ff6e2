-- Eight hours of sales. A till sends within seconds, and so do phones, but one sale of a phone in
-- twenty takes more than ten minutes: ten, and then 25 more on average.
SET VARIABLE files = 24;
SET VARIABLE sales = at_size(24000, 2000000);

CREATE TEMP TABLE sales AS
SELECT *, arrives(sale_id, received_at) AS _arrivals
FROM (
  SELECT
    sale_id,
    device,
    amount,
    sold_at,
    sold_at + seconds(CASE WHEN device = 'mobile' AND pick(sale_id, 'late', 20) = 0
      THEN 600 + exponential(sale_id, 'delay', 1500)
      ELSE least(exponential(sale_id, 'delay', 5), 500) END) AS received_at
  FROM (
    SELECT
      row_number() OVER (ORDER BY since_ten, i) AS sale_id,
      one_of(i, 'device', ['till', 'till', 'mobile', 'mobile', 'mobile']) AS device,
      (1 + exponential(i, 'amount', 30))::DECIMAL(10, 2) AS amount,
      TIMESTAMPTZ '2026-03-02 10:00:00Z' + since_ten AS sold_at
    FROM (
      SELECT i, seconds(28800 * uniform(i, 'time')) AS since_ten
      FROM range(getvariable('sales')) AS r(i)
    )
  )
);
