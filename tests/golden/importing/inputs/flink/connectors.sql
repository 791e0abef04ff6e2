-- Every connector, option, format, type and statement that the tables of Flink have.
USE CATALOG default_catalog;
SET 'table.exec.source.idle-timeout' = '30 s';
SET 'table.exec.state.ttl' = '1 d';
SET table.local-time-zone = Europe/Berlin;
SET 'parallelism.default' = '4';
ADD JAR '/x.jar';
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
CREATE DATABASE d;
SHOW TABLES;
DESCRIBE x;
DESC x;
EXPLAIN SELECT 1;
DROP TABLE IF EXISTS x;
ALTER TABLE x RENAME TO y;
RESET;
LOAD MODULE hive;
UNLOAD MODULE hive;
REMOVE JAR '/x.jar';
ANALYZE TABLE x COMPUTE STATISTICS;
QUIT;

CREATE TABLE all_types (
    a BOOLEAN, b TINYINT, c SMALLINT, d INT, e INTEGER, f BIGINT, g FLOAT, h REAL, i DOUBLE,
    j DOUBLE PRECISION, k DECIMAL, l DEC, m NUMERIC, n DECIMAL(12, 3), o STRING, p VARCHAR(20), q CHAR(3),
    r BYTES, s BINARY(4), t VARBINARY, u DATE, v TIMESTAMP(3), w TIMESTAMP_LTZ(3), x TIME,
    y ARRAY<INT>, z MAP<STRING, ROW<a INT, b ARRAY<STRING NOT NULL>>>,
    aa TIMESTAMP(6) WITH LOCAL TIME ZONE, bb INT NOT NULL COMMENT 'it''s one',
    `order` STRING
) WITH ('connector' = 'filesystem', 'path' = 'file:///data/types', 'format' = 'parquet',
    'source.monitor-interval' = '1 s', 'source.path.regex-pattern' = '*.parquet', 'sink.parallelism' = '1',
    'partition.time-extractor.kind' = 'default', 'auto-compaction' = 'true', 'compaction.file-size' = '1MB',
    'parquet.compression' = 'SNAPPY');
CREATE TABLE no_raw (a RAW('x', 'y')) WITH ('connector' = 'print');
CREATE TABLE no_multiset (a MULTISET<INT>) WITH ('connector' = 'print');
CREATE TABLE no_interval (a INTERVAL) WITH ('connector' = 'print');
CREATE TABLE unknown_type (a GEOMETRY) WITH ('connector' = 'print');

CREATE TABLE kafka_json (
    id BIGINT, at TIMESTAMP(3),
    topic STRING METADATA VIRTUAL, `partition` INT METADATA VIRTUAL, pos BIGINT METADATA FROM 'offset',
    ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', headers MAP<STRING, BYTES> METADATA,
    id_text AS CAST(id AS STRING), clock AS PROCTIME(),
    PRIMARY KEY (id) NOT ENFORCED,
    WATERMARK FOR at AS at - INTERVAL '5' SECOND
) COMMENT 'all options' WITH (
    'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'broker:9092',
    'properties.group.id' = 'g', 'properties.isolation.level' = 'read_uncommitted',
    'scan.startup.mode' = 'latest-offset', 'scan.startup.timestamp-millis' = '1767225600000',
    'scan.topic-partition-discovery.interval' = '5 s',
    'key.fields' = 'id', 'key.format' = 'json', 'key.json.ignore-parse-errors' = 'true',
    'value.format' = 'json', 'value.json.ignore-parse-errors' = 'true', 'value.json.fail-on-missing-field' = 'false',
    'value.json.timestamp-format.standard' = 'ISO-8601', 'value.json.encode.decimal-as-plain-number' = 'true',
    'value.json.map-null-key.mode' = 'DROP', 'value.fields-include' = 'ALL', 'sink.partitioner' = 'fixed',
    'properties.security.protocol' = 'SASL_SSL', 'properties.sasl.mechanism' = 'SCRAM-SHA-512',
    'properties.sasl.jaas.config' = 'org.x.ScramLoginModule required username="shop" password="do-not-copy-me";',
    'properties.sasl.username' = 'shop', 'properties.sasl.password' = 'do-not-copy-me',
    'properties.ssl.ca.location' = 'ca.pem', 'properties.ssl.truststore.location' = '/t.jks',
    'properties.ssl.truststore.password' = 'do-not-copy-me', 'properties.ssl.keystore.location' = '/k.jks',
    'properties.ssl.keystore.password' = 'do-not-copy-me', 'properties.ssl.key.password' = 'do-not-copy-me',
    'properties.ssl.endpoint.identification.algorithm' = '', 'unheard.of' = '1'
);
CREATE TABLE kafka_pattern (id BIGINT) WITH ('connector' = 'kafka', 'topic-pattern' = 'orders-.*',
    'properties.bootstrap.servers' = 'broker:9092', 'format' = 'csv', 'csv.field-delimiter' = ';',
    'csv.quote-character' = '''', 'csv.escape-character' = '\', 'csv.null-literal' = 'NULL',
    'csv.ignore-parse-errors' = 'true', 'csv.allow-comments' = 'true', 'csv.disable-quote-character' = 'false');
CREATE TABLE kafka_avro (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'b:9092',
    'format' = 'avro-confluent', 'avro-confluent.url' = 'http://registry:8081', 'avro-confluent.subject' = 'a-value',
    'avro-confluent.basic-auth.user-info' = 'user:do-not-copy-me');
CREATE TABLE kafka_old_avro (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'a', 'properties.bootstrap.servers' = 'b:9092',
    'format' = 'avro-confluent', 'avro-confluent.schema-registry.url' = 'http://registry:8081',
    'avro-confluent.schema-registry.subject' = 'a-value');
CREATE TABLE kafka_at_offsets (id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH ('connector' = 'kafka',
    'topic' = 'o', 'properties.bootstrap.servers' = 'b:9092', 'format' = 'json', 'scan.startup.mode' = 'specific-offsets',
    'scan.startup.specific-offsets' = 'partition:0,offset:42;partition:1,offset:300', 'scan.watermark.idle-timeout' = '2 min');
CREATE TABLE kafka_raw (line STRING) WITH ('connector' = 'kafka', 'topic' = 'r', 'properties.bootstrap.servers' = 'b:9092',
    'format' = 'raw', 'raw.charset' = 'UTF-8');
CREATE TABLE kafka_debezium (id BIGINT, price DECIMAL(10, 2), at TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED) WITH (
    'connector' = 'kafka', 'topic' = 'd', 'properties.bootstrap.servers' = 'b:9092',
    'format' = 'debezium-json', 'debezium-json.schema-include' = 'true');
CREATE TABLE kafka_debezium_avro (id BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH (
    'connector' = 'kafka', 'topic' = 'd', 'properties.bootstrap.servers' = 'b:9092',
    'format' = 'debezium-avro-confluent', 'debezium-avro-confluent.url' = 'http://registry:8081');
CREATE TABLE kafka_protobuf (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'p', 'properties.bootstrap.servers' = 'b:9092',
    'format' = 'protobuf');
CREATE TABLE kafka_upsert (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
    'connector' = 'upsert-kafka', 'topic' = 'u', 'properties.bootstrap.servers' = 'b:9092',
    'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE files_old (name STRING, file STRING METADATA FROM 'file.path', file2 STRING METADATA FROM 'file.name')
WITH ('connector.type' = 'filesystem', 'connector.path' = 'file:///data/old', 'format.type' = 'csv');
CREATE TABLE generated (id INT, word STRING, at TIMESTAMP(3), WATERMARK FOR at AS at) WITH (
    'connector' = 'datagen', 'rows-per-second' = '5', 'number-of-rows' = '100',
    'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100',
    'fields.word.kind' = 'random', 'fields.word.length' = '4');
CREATE TABLE of_the_clock (id INT, at AS CURRENT_TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5' SECONDS)
WITH ('connector' = 'datagen', 'fields.id.min' = '1', 'fields.id.max' = '9');
CREATE TABLE copied WITH ('topic' = 'copied') LIKE kafka_raw (EXCLUDING ALL);
CREATE TABLE copied_of_nothing LIKE nobody;
CREATE TABLE faked (id INT) WITH ('connector' = 'faker');
CREATE TABLE by_jdbc (id INT) WITH ('connector' = 'jdbc', 'url' = 'jdbc:x');
CREATE TABLE by_mysql (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'mysql-cdc');
CREATE TABLE by_postgres (id INT) WITH ('connector' = 'postgres-cdc');
CREATE TABLE by_oracle (id INT) WITH ('connector' = 'oracle-cdc');
CREATE TABLE by_sqlserver (id INT) WITH ('connector' = 'sqlserver-cdc');
CREATE TABLE by_mongo (id INT) WITH ('connector' = 'mongodb-cdc');
CREATE TABLE by_kinesis (id INT) WITH ('connector' = 'kinesis');
CREATE TABLE by_pulsar (id INT) WITH ('connector' = 'pulsar');
CREATE TABLE by_elastic (id INT) WITH ('connector' = 'elasticsearch-7');
CREATE TABLE by_iceberg (id INT) WITH ('connector' = 'iceberg');
CREATE TABLE by_nothing (id INT);
CREATE TEMPORARY TABLE of_nexmark (id INT) WITH ('connector' = 'nexmark');
CREATE OR REPLACE TABLE replaced (id INT) WITH ('connector' = 'datagen');
CREATE TABLE twice (id INT) WITH ('connector' = 'datagen');
CREATE TABLE twice (id INT) WITH ('connector' = 'datagen');

CREATE TABLE summary WITH ('connector' = 'print') AS SELECT id, COUNT(*) AS n FROM generated GROUP BY id;
CREATE TEMPORARY VIEW ids (number) COMMENT 'one column' AS SELECT id FROM generated;
CREATE OR REPLACE VIEW ids_again AS SELECT id FROM generated;
CREATE TEMPORARY FUNCTION f AS 'org.example.F';
CREATE TEMPORARY SYSTEM FUNCTION g AS 'org.example.G';
EXECUTE STATEMENT SET BEGIN
INSERT INTO kafka_upsert SELECT id, word FROM generated;
INSERT INTO kafka_upsert (id, name) SELECT id, 'again' FROM generated;
END;
BEGIN STATEMENT SET;
EXECUTE INSERT INTO unheard SELECT id FROM generated;
END;
INSERT OVERWRITE by_jdbc SELECT id FROM generated;
INSERT INTO by_pulsar VALUES (1);
SELECT * FROM generated;
WITH x AS (SELECT 1) SELECT * FROM x;
MERGE INTO x USING y ON x.a = y.a;
