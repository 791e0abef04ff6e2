CREATE STREAMING VIEW by_customer AS
SELECT
  customer,
  count(*) AS orders,
  count_if(paid) AS paid,
  sum(amount) AS revenue,
  sum(amount) FILTER (WHERE paid) AS received,
  avg(price) AS mean,
  min(quantity) AS least,
  max(quantity) AS most,
  bool_and(paid) AS all_paid,
  approx_distinct(order_id) AS different,
  approx_percentile(price, 0.9) AS p90,
  sum(quantity) / count(*) AS per_order
FROM orders
GROUP BY customer;
