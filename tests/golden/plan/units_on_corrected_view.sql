-- A view on a view whose rows are corrected: its change is what it gained and lost.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW v AS SELECT spent, count(*) AS customers FROM spent GROUP BY spent;
