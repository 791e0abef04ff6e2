CREATE STREAMING VIEW punctual LATE ROWS DROP INTO tardy AS
SELECT order_id, ordered_at FROM orders WHERE paid;
