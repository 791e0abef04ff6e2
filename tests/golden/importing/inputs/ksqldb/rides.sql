-- Riders on their way, and what they pay.
SET 'auto.offset.reset' = 'earliest';
DEFINE zone = 'eu';

CREATE TYPE place AS STRUCT<lat DOUBLE, lon DOUBLE>;

CREATE STREAM positions (
    rider VARCHAR KEY,
    place PLACE,
    speed DOUBLE,
    tags ARRAY<VARCHAR>
) WITH (KAFKA_TOPIC = 'positions', VALUE_FORMAT = 'JSON', PARTITIONS = 1);

CREATE STREAM payments (
    payment_id BIGINT, rider VARCHAR, amount DECIMAL(10, 2), paid_ms BIGINT, details VARCHAR
) WITH (kafka_topic = 'payments_${zone}', value_format = 'json', timestamp = 'paid_ms');

CREATE STREAM orders (order_id VARCHAR, rider VARCHAR, ordered_at VARCHAR)
WITH (kafka_topic = 'orders', value_format = 'delimited', value_delimiter = 'tab',
    timestamp = 'ordered_at', timestamp_format = 'yyyy-MM-dd''T''HH:mm:ss');

CREATE TABLE riders (rider VARCHAR PRIMARY KEY, name VARCHAR, tier INT)
WITH (kafka_topic = 'riders', value_format = 'JSON');
CREATE TABLE cities (id INT PRIMARY KEY, city VARCHAR)
WITH (kafka_topic = 'cities', format = 'PROTOBUF');
CREATE STREAM inferred WITH (kafka_topic = 'inferred', value_format = 'AVRO');

INSERT INTO positions (rider, speed) VALUES ('r1', 3.5);

-- the last place of each rider
CREATE TABLE current_place AS
    SELECT rider, LATEST_BY_OFFSET(place->lat) AS lat, LATEST_BY_OFFSET(place->lon) AS lon
    FROM positions
    GROUP BY rider
    EMIT CHANGES;

CREATE TABLE near_office AS
    SELECT ROUND(GEO_DISTANCE(lat, lon, 46.948, 7.4474), 1) AS km,
        COLLECT_LIST(rider) AS riders, COUNT(*) AS number
    FROM current_place
    GROUP BY ROUND(GEO_DISTANCE(lat, lon, 46.948, 7.4474), 1);

CREATE STREAM named_payments AS
    SELECT p.payment_id, p.rider AS rider, r.name, p.amount, UCASE(r.name) AS loud
    FROM payments p
    LEFT JOIN riders r ON p.rider = r.rider
    PARTITION BY p.rider
    EMIT CHANGES;

CREATE TABLE payments_per_hour WITH (kafka_topic = 'payments_per_hour', value_format = 'JSON') AS
    SELECT rider, COUNT(*) AS payments, SUM(amount) AS amount,
        TIMESTAMPTOSTRING(WINDOWSTART, 'yyyy-MM-dd HH:mm:ss', 'UTC') AS hour
    FROM payments
    WINDOW TUMBLING (SIZE 1 HOUR, RETENTION 7 DAYS, GRACE PERIOD 10 MINUTES)
    GROUP BY rider
    HAVING COUNT(*) > 1
    EMIT CHANGES;

CREATE TABLE payments_final AS
    SELECT rider, COUNT_DISTINCT(payment_id) AS payments
    FROM payments WINDOW HOPPING (SIZE 1 HOUR, ADVANCE BY 20 MINUTES)
    GROUP BY rider
    EMIT FINAL;

CREATE TABLE busy AS
    SELECT rider, COUNT(*) AS points, WINDOWSTART AS began, WINDOWEND AS ended
    FROM positions WINDOW SESSION (5 MINUTES)
    GROUP BY rider;

CREATE STREAM paid_orders AS
    SELECT o.order_id, p.payment_id, p.amount
    FROM orders o
    INNER JOIN payments p WITHIN 2 HOURS GRACE PERIOD 15 MINUTES ON o.rider = p.rider
    EMIT CHANGES;

CREATE STREAM tags AS SELECT rider, EXPLODE(tags) AS tag FROM positions EMIT CHANGES;

CREATE STREAM cards AS
    SELECT payment_id, EXTRACTJSONFIELD(details, '$.card.kind') AS kind, ROWTIME AS at,
        IFNULL(rider, 'nobody') AS rider, MASK(details) AS hidden
    FROM payments;
CREATE STREAM kinds AS
    SELECT payment_id, EXTRACTJSONFIELD(details, '$.card.kind') AS kind, ROWTIME AS at
    FROM payments WHERE amount > 10;

CREATE STREAM all_riders (rider VARCHAR, via VARCHAR)
WITH (kafka_topic = 'all_riders', value_format = 'json', partitions = 1);
INSERT INTO all_riders SELECT rider, 'place' AS via FROM positions;
INSERT INTO all_riders SELECT rider, 'payment' AS via FROM payments;

SELECT * FROM positions EMIT CHANGES LIMIT 3;
CREATE SINK CONNECTOR out WITH ('connector.class' = 'x');
