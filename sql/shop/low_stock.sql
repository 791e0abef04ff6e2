-- A product comes when an order takes the last ones, and goes when it is restocked.
CREATE STREAMING VIEW low_stock
COMMENT 'Products to be ordered again'
AS
SELECT id, name, stock, reorder_at
FROM products
WHERE stock <= reorder_at;
