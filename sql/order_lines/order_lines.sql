-- One row per order. The price is the one that held when the order was placed: a product that gets
-- dearer makes no old order dearer, and a product that is gone leaves the price of its orders.
CREATE STREAMING VIEW order_lines (
  price COMMENT 'of one piece when the order was placed, EUR',
  amount COMMENT 'of all pieces, EUR'
)
COMMENT 'Orders with customer and product, as the database has them now'
AS
SELECT
  o.id AS order_id,
  o.placed_at,
  o.status,
  c.name AS customer,
  c.city,
  p.name AS product,
  o.quantity,
  p.price,
  o.quantity * p.price AS amount
FROM orders AS o
LEFT JOIN customers AS c ON c.id = o.customer_id
LEFT JOIN products FOR SYSTEM_TIME AS OF o.placed_at AS p ON p.id = o.product_id;
