-- What the queries read. Events stand in the files in their own order, and come a second out of order at most.
CREATE TABLE person (
  id BIGINT, name VARCHAR, email_address VARCHAR, credit_card VARCHAR, city VARCHAR, state VARCHAR,
  date_time TIMESTAMP, extra VARCHAR,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND
) WITH (connector = 'files', path = '{events}/person', ordering = 'name', max_files_per_epoch = {files})
FORMAT PLAIN ENCODE PARQUET;

CREATE TABLE auction (
  id BIGINT, item_name VARCHAR, description VARCHAR, initial_bid BIGINT, reserve BIGINT,
  date_time TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra VARCHAR,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND
) WITH (connector = 'files', path = '{events}/auction', ordering = 'name', max_files_per_epoch = {files})
FORMAT PLAIN ENCODE PARQUET;

CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel VARCHAR, url VARCHAR,
  date_time TIMESTAMP, extra VARCHAR,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND
) WITH (connector = 'files', path = '{events}/bid', ordering = 'name', max_files_per_epoch = {files})
FORMAT PLAIN ENCODE PARQUET;

CREATE TABLE side_input (key BIGINT, value VARCHAR)
WITH (connector = 'files', path = '{events}/side_input') FORMAT PLAIN ENCODE PARQUET;
