CREATE STREAMING VIEW tagged AS
SELECT o.order_id, t.tag FROM orders AS o CROSS JOIN UNNEST(o.tags) AS t(tag);
