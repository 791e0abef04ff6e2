-- Rows of a corrected view, each on its own.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW v AS SELECT upper(customer) AS shown, customer, spent FROM spent WHERE spent > 10;
