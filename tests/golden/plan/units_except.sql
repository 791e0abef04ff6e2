-- Rows that are equal are a unit on either side.
CREATE STREAMING VIEW v AS
SELECT order_id FROM orders WHERE paid
EXCEPT
SELECT order_id FROM shipments
UNION ALL
SELECT order_id FROM returns;
