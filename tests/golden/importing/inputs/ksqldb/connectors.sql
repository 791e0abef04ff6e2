-- Every option, format, type and statement that the tables of ksqlDB have.
UNSET 'auto.offset.reset';
SHOW STREAMS;
LIST TOPICS;
DESCRIBE x;
PRINT 'x';
EXPLAIN SELECT 1;
DROP STREAM x;
TERMINATE ALL;
PAUSE x;
RESUME x;
UNDEFINE x;
RUN SCRIPT 'x';
ASSERT TOPIC x;
ALTER STREAM x ADD COLUMN y INT;
EXIT;
CREATE SOURCE CONNECTOR c WITH ('connector.class' = 'x');

CREATE STREAM all_types (
    a BOOLEAN, b INT, c INTEGER, d BIGINT, e DOUBLE, f STRING, g VARCHAR, h BYTES, i DECIMAL(10, 2), j DATE, k TIME,
    l TIMESTAMP, m ARRAY<INT>, n MAP<VARCHAR, INT>, o STRUCT<a INT, b STRUCT<c VARCHAR>>, p BYTES HEADER('x'), q INT KEY
) WITH (kafka_topic = 'all', format = 'JSON', key = 'a', partitions = 3, replicas = 1, retention_ms = 1,
    cleanup_policy = 'delete', wrap_single_value = true, key_schema_id = 1, value_schema_id = 2,
    value_avro_schema_full_name = 'x', window_type = 'TUMBLING', window_size = '1 HOUR', unheard_of = 'x');
CREATE STREAM of_time (a VARCHAR, at TIMESTAMP) WITH (kafka_topic = 'a', value_format = 'json', timestamp = 'at');
CREATE STREAM of_day (a VARCHAR, at VARCHAR) WITH (kafka_topic = 'a', value_format = 'json', timestamp = 'at', timestamp_format = 'EEE');
CREATE STREAM in_avro (a VARCHAR) WITH (kafka_topic = 'a', value_format = 'avro');
CREATE STREAM in_json_sr (a VARCHAR) WITH (kafka_topic = 'a', value_format = 'json_sr');
CREATE STREAM in_kafka (a VARCHAR) WITH (kafka_topic = 'a', value_format = 'kafka');
CREATE STREAM in_text (a VARCHAR, b VARCHAR) WITH (kafka_topic = 'a', value_format = 'delimited', value_delimiter = 'space');
CREATE STREAM in_protobuf (a VARCHAR) WITH (kafka_topic = 'a', value_format = 'protobuf');
CREATE OR REPLACE TABLE by_json (a INT PRIMARY KEY, b VARCHAR) WITH (kafka_topic = 'a', key_format = 'json', value_format = 'json');
CREATE SOURCE TABLE by_number (a INT PRIMARY KEY, b VARCHAR) WITH (kafka_topic = 'a', value_format = 'json');
CREATE TABLE by_delimited (a VARCHAR PRIMARY KEY, b VARCHAR) WITH (kafka_topic = 'a', key_format = 'delimited', value_format = 'json');
CREATE TABLE by_avro (a VARCHAR PRIMARY KEY, b VARCHAR) WITH (kafka_topic = 'a', format = 'avro');
CREATE TABLE by_sr (a VARCHAR PRIMARY KEY, b VARCHAR) WITH (kafka_topic = 'a', key_format = 'json_sr', value_format = 'json');
CREATE TABLE by_protobuf (a VARCHAR PRIMARY KEY, b VARCHAR) WITH (kafka_topic = 'a', key_format = 'protobuf', value_format = 'json');
CREATE TABLE without_key (a VARCHAR) WITH (kafka_topic = 'a', value_format = 'json');
CREATE OR REPLACE STREAM replaced AS SELECT * FROM all_types;
CREATE SOURCE STREAM again (a INT) WITH (kafka_topic = 'replaced', value_format = 'json');
CREATE TABLE counted AS SELECT a, COUNT(*) AS n FROM in_text GROUP BY a;
CREATE STREAM changes (a VARCHAR, n BIGINT) WITH (kafka_topic = 'COUNTED', value_format = 'json');
INSERT INTO nothing SELECT a FROM in_text;
INSERT INTO replaced SELECT * FROM all_types;
CREATE STREAM to_protobuf WITH (kafka_topic = 'p', value_format = 'protobuf') AS SELECT a FROM in_text;
