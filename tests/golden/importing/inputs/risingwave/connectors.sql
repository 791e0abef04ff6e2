-- Every connector, option, format, type and statement that the tables of RisingWave have.
SET search_path TO public;
DESCRIBE x;
EXPLAIN SELECT 1;
SELECT 1;
WITH x AS (SELECT 1) SELECT * FROM x;
DROP TABLE x;
ALTER TABLE x ADD COLUMN y INT;
FLUSH;
CREATE SCHEMA s;
CREATE DATABASE d;
CREATE USER u;
GRANT ALL ON TABLE x TO u;
BEGIN;
COMMIT;
DELETE FROM x;
UPDATE x SET a = 1;
WAIT;
COMMENT ON TABLE x IS 'y';
USE d;
REFRESH MATERIALIZED VIEW x;
CREATE CONNECTION c WITH (type = 'iceberg');

CREATE TABLE all_types (
    a BOOLEAN, b BOOL, c SMALLINT, d INT2, e INT, f INTEGER, g INT4, h BIGINT, i INT8, j SERIAL, k REAL, l FLOAT4,
    m FLOAT, n FLOAT8, o DOUBLE, p DOUBLE PRECISION, q NUMERIC, r DECIMAL, s NUMERIC(12, 2), t VARCHAR,
    u CHARACTER VARYING, v CHARACTER, w CHAR(3), x TEXT, y STRING, z BYTEA, aa BYTES, bb UUID, cc JSON, dd JSONB,
    ee DATE, ff TIMESTAMP, gg TIMESTAMPTZ, hh TIME, ii RW_INT256, jj INT[], kk STRUCT<a INT, b VARCHAR[]>,
    ll TIMESTAMP WITH TIME ZONE, mm MAP(VARCHAR, INT), nn TIMESTAMP WITHOUT TIME ZONE, clock TIMESTAMPTZ AS proctime(),
    twice INT AS (e * 2)
);
CREATE TABLE no_interval (a INTERVAL);
CREATE TABLE kafka_all (
    id BIGINT, at TIMESTAMPTZ AS to_timestamp(id), PRIMARY KEY (id)
) INCLUDE KEY AS k INCLUDE TIMESTAMP INCLUDE OFFSET AS pos INCLUDE PARTITION AS part INCLUDE HEADER AS h
WITH (
    connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092', scan.startup.mode = 'earliest',
    scan.startup.timestamp.millis = '0', group.id.prefix = 'g', consumer.group.id = 'g', properties.group.id = 'g',
    properties.sync.call.timeout = '5s', properties.message.timeout.ms = '1', properties.retry.max = '3',
    source_rate_limit = '10', properties.security.protocol = 'sasl_ssl', properties.sasl.mechanism = 'plain',
    properties.sasl.jaas.config = 'username="u" password="do-not-copy-me"', properties.sasl.username = 'u',
    properties.sasl.password = 'do-not-copy-me', properties.ssl.ca.location = 'ca.pem',
    properties.ssl.truststore.location = 't', properties.ssl.truststore.password = 'do-not-copy-me',
    properties.ssl.keystore.location = 'k', properties.ssl.keystore.password = 'do-not-copy-me',
    properties.ssl.key.password = 'do-not-copy-me', properties.ssl.endpoint.identification.algorithm = 'none'
) FORMAT PLAIN ENCODE JSON (timestamptz.handling.mode = 'milli', schemas.enable = 'false');
CREATE SOURCE kafka_old (id INT) WITH (connector = 'kafka', kafka.topic = 'a', kafka.brokers = 'b:9092',
    kafka.scan.startup.mode = 'latest') ROW FORMAT DEBEZIUM_JSON;
CREATE SOURCE kafka_avro (id INT) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT PLAIN ENCODE AVRO (schema.registry = 'http://r:8081', schema.registry.username = 'u',
    schema.registry.password = 'do-not-copy-me', message = 'm');
CREATE SOURCE kafka_csv (id INT) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT PLAIN ENCODE CSV (without_header = 'true', delimiter = ';');
CREATE SOURCE kafka_bytes (line BYTEA) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT PLAIN ENCODE BYTES;
CREATE TABLE kafka_upsert_avro (id INT PRIMARY KEY) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT UPSERT ENCODE AVRO (schema.registry = 'http://r:8081');
CREATE TABLE kafka_debezium (id INT PRIMARY KEY, n NUMERIC) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT DEBEZIUM ENCODE JSON;
CREATE TABLE kafka_debezium_avro (id INT PRIMARY KEY) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT DEBEZIUM ENCODE AVRO (schema.registry = 'http://r:8081');
CREATE SOURCE kafka_proto (id INT) WITH (connector = 'kafka', topic = 'a', properties.bootstrap.server = 'b:9092')
FORMAT PLAIN ENCODE PROTOBUF (message = 'm');
CREATE SOURCE on_s3 (id INT) INCLUDE FILE AS name WITH (connector = 's3', s3.bucket_name = 'inbox', s3.region_name = 'eu-west-1',
    s3.endpoint_url = 'https://s3.example.com', s3.credentials.access = 'a', s3.credentials.secret = 'do-not-copy-me',
    match_pattern = '*.json', refresh.interval.sec = '60', compression_format = 'gzip') FORMAT PLAIN ENCODE JSON;
CREATE SOURCE on_s3_again (id INT) WITH (connector = 's3_v2', s3.bucket_name = 'inbox') FORMAT PLAIN ENCODE PARQUET;
CREATE SOURCE by_nexmark (id INT) WITH (connector = 'nexmark', nexmark.table.type = 'Bid');
CREATE TABLE by_mysql (id INT PRIMARY KEY) WITH (connector = 'mysql-cdc', password = 'do-not-copy-me');
CREATE TABLE by_mongo (id INT) WITH (connector = 'mongodb-cdc');
CREATE TABLE by_sqlserver (id INT) WITH (connector = 'sqlserver-cdc');
CREATE SOURCE by_iceberg (id INT) WITH (connector = 'iceberg');
CREATE SOURCE by_kinesis (id INT) WITH (connector = 'kinesis') FORMAT PLAIN ENCODE JSON;
CREATE SOURCE by_pulsar (id INT) WITH (connector = 'pulsar') FORMAT PLAIN ENCODE JSON;
CREATE SOURCE by_mqtt (id INT) WITH (connector = 'mqtt') FORMAT PLAIN ENCODE JSON;
CREATE SOURCE by_nats (id INT) WITH (connector = 'nats') FORMAT PLAIN ENCODE JSON;
CREATE TABLE with_log (id INT) APPEND ONLY;
CREATE TABLE made AS SELECT id FROM with_log;
CREATE OR REPLACE VIEW ids AS SELECT id FROM with_log;
CREATE SINK to_blackhole FROM ids WITH (connector = 'blackhole');
CREATE SINK to_redis FROM ids WITH (connector = 'redis');
CREATE SINK to_elastic FROM ids WITH (connector = 'elasticsearch');
CREATE SINK to_click FROM ids WITH (connector = 'clickhouse');
CREATE SINK into_table INTO made FROM ids;
CREATE TABLE gathered (number INT PRIMARY KEY, twice INT);
CREATE SINK into_gathered INTO gathered AS SELECT id, id * 2 FROM ids WITH (type = 'append-only');
CREATE SINK of_names AS WITH x AS (SELECT id FROM ids) SELECT id FROM x
WITH (connector = 'kafka', properties.bootstrap.server = 'b:9092', topic = 'n', type = 'append-only');
CREATE SINK into_gathered_again INTO gathered FROM ids;
CREATE SINK to_topic FROM ids WITH (connector = 'kafka', properties.bootstrap.server = 'b:9092', topic = 't', type = 'append-only', force_append_only = 'true');
CREATE OR REPLACE FUNCTION plus_one(a INT) RETURNS INT RETURN a + 1;
