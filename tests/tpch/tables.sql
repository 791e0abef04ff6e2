CREATE TABLE region (r_regionkey BIGINT, r_name VARCHAR)
WITH (connector = 'files', path = 'region') FORMAT PLAIN ENCODE JSON;

CREATE TABLE nation (n_nationkey BIGINT, n_name VARCHAR, n_regionkey BIGINT)
WITH (connector = 'files', path = 'nation') FORMAT PLAIN ENCODE JSON;

CREATE TABLE supplier (
  s_suppkey BIGINT, s_name VARCHAR, s_address VARCHAR, s_nationkey BIGINT, s_phone VARCHAR, s_acctbal DOUBLE,
  s_comment VARCHAR
) WITH (connector = 'files', path = 'supplier') FORMAT PLAIN ENCODE JSON;

CREATE TABLE part (
  p_partkey BIGINT, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, p_size BIGINT,
  p_container VARCHAR
) WITH (connector = 'files', path = 'part') FORMAT PLAIN ENCODE JSON;

CREATE TABLE partsupp (ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty BIGINT, ps_supplycost DOUBLE)
WITH (connector = 'files', path = 'partsupp') FORMAT PLAIN ENCODE JSON;

CREATE TABLE customer (
  c_custkey BIGINT, c_name VARCHAR, c_address VARCHAR, c_nationkey BIGINT, c_phone VARCHAR, c_acctbal DOUBLE,
  c_mktsegment VARCHAR, c_comment VARCHAR
) WITH (connector = 'files', path = 'customer') FORMAT PLAIN ENCODE JSON;

-- Orders and their lines come as versions; the newest one that is no deletion is the row.
CREATE TABLE orders_log (
  version BIGINT, deleted BOOLEAN, o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus VARCHAR, o_totalprice DOUBLE,
  o_orderdate DATE, o_orderpriority VARCHAR, o_shippriority BIGINT, o_comment VARCHAR
) WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;

CREATE TABLE lineitem_log (
  version BIGINT, deleted BOOLEAN, l_orderkey BIGINT, l_linenumber BIGINT, l_partkey BIGINT, l_suppkey BIGINT,
  l_quantity DOUBLE, l_extendedprice DOUBLE, l_discount DOUBLE, l_tax DOUBLE, l_returnflag VARCHAR,
  l_linestatus VARCHAR, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct VARCHAR,
  l_shipmode VARCHAR
) WITH (connector = 'files', path = 'lineitem') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW orders AS
SELECT o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_shippriority, o_comment
FROM (
  SELECT *, row_number() OVER (PARTITION BY o_orderkey ORDER BY version DESC) AS age FROM orders_log
) AS versions
WHERE age = 1 AND NOT deleted;

CREATE STREAMING VIEW lineitem AS
SELECT l_orderkey, l_linenumber, l_partkey, l_suppkey, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag,
  l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode
FROM (
  SELECT *, row_number() OVER (PARTITION BY l_orderkey, l_linenumber ORDER BY version DESC) AS age FROM lineitem_log
) AS versions
WHERE age = 1 AND NOT deleted;
