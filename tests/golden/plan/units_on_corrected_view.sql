-- A minimum does not know the next one: its groups are computed again.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW v AS SELECT spent, min(customer) AS first FROM spent GROUP BY spent;
