-- min_by and max_by fold: their state is what the winner was compared by.
CREATE STREAMING VIEW v AS
SELECT customer, min_by(order_id, price) AS cheapest, max_by(price, ordered_at) FILTER (WHERE paid) AS newest, any_value(paid) AS paid
FROM orders GROUP BY customer;
