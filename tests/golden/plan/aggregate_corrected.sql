-- A view on a view whose rows are corrected: rows that go are subtracted, groups go with their last.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW v AS
SELECT spent, count(*) AS customers, count_if(customer <> 'x') AS others FROM spent GROUP BY spent;
