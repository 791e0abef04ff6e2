-- Both sides of the join change: a customer who is renamed, or leaves, changes the view as an order does.
CREATE STREAMING VIEW lifetime_value (spent COMMENT 'in EUR')
COMMENT 'What each customer has ordered so far; those who ordered nothing are there too'
AS
SELECT c.id, c.name, coalesce(c.city, 'unknown') AS city,
       count(o.id) AS orders, sum(o.amount) AS spent
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.id AND o.status <> 'cancelled'
GROUP BY c.id, c.name, coalesce(c.city, 'unknown');
