CREATE STREAMING VIEW paid AS SELECT customer, price FROM orders WHERE paid;
CREATE STREAMING VIEW spent AS SELECT customer, sum(price) AS spent FROM paid GROUP BY customer;
