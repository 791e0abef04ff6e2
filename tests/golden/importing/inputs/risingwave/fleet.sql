-- A fleet of scooters: trips, stations, and what is charged.
CREATE SECRET broker_password WITH (backend = 'meta') AS 'hidden';

CREATE SOURCE trips (
    trip_id VARCHAR,
    scooter_id BIGINT,
    started_at TIMESTAMP WITH TIME ZONE,
    ended_at TIMESTAMP WITH TIME ZONE,
    distance DOUBLE PRECISION,
    fare NUMERIC,
    stops INT[],
    rider STRUCT<id BIGINT, tier VARCHAR>,
    WATERMARK FOR ended_at AS ended_at - INTERVAL '30 seconds'
)
INCLUDE timestamp AS arrived_at
INCLUDE partition AS part
WITH (
    connector = 'kafka',
    topic = 'trips',
    properties.bootstrap.server = 'broker-1:9092,broker-2:9092',
    properties.security.protocol = 'SASL_SSL',
    properties.sasl.mechanism = 'SCRAM-SHA-256',
    properties.sasl.username = 'fleet',
    properties.sasl.password = 'do-not-copy-me',
    scan.startup.mode = 'latest'
) FORMAT PLAIN ENCODE JSON;

CREATE TABLE scooters (
    scooter_id BIGINT PRIMARY KEY,
    model VARCHAR(40) DEFAULT 'unknown',
    city CHARACTER VARYING,
    seen_at TIMESTAMP
);
INSERT INTO scooters VALUES (1, 'S1', 'Bern', '2026-01-01 00:00:00');

CREATE TABLE charges (charge_id INT, scooter_id BIGINT, details JSONB, at TIMESTAMPTZ, PRIMARY KEY (charge_id))
WITH (connector = 'kafka', topic = 'charges', properties.bootstrap.server = 'broker-1:9092')
FORMAT UPSERT ENCODE JSON;

CREATE SOURCE pings (scooter_id INT, battery REAL, at TIMESTAMP)
WITH (
    connector = 'datagen',
    fields.scooter_id.kind = 'sequence', fields.scooter_id.start = '1', fields.scooter_id.end = '100',
    fields.battery.kind = 'random', fields.battery.min = '0', fields.battery.max = '100',
    datagen.rows.per.second = '10', datagen.split.num = '1'
) ROW FORMAT JSON;

CREATE SOURCE accounts WITH (
    connector = 'postgres-cdc', hostname = 'db', port = '5432', username = 'rw', password = 'do-not-copy-me',
    database.name = 'fleet'
);
CREATE TABLE riders (id BIGINT PRIMARY KEY, name TEXT) FROM accounts TABLE 'public.riders';
CREATE SOURCE shared (*) WITH (connector = 'kafka', topic = 'shared', properties.bootstrap.server = 'b:9092')
FORMAT PLAIN ENCODE AVRO (schema.registry = 'http://registry:8081');

-- fares of an hour
CREATE MATERIALIZED VIEW fares_per_hour AS
SELECT window_start, window_end, count(*) AS trips, round(avg(fare), 2) AS average, sum(distance)
FROM TUMBLE(trips, ended_at, INTERVAL '1 HOUR')
GROUP BY window_start, window_end
ORDER BY window_start;

CREATE MATERIALIZED VIEW fares_final AS
SELECT window_end, max(distance) AS longest
FROM HOP(trips, ended_at, INTERVAL '10 MINUTES', INTERVAL '1 HOUR')
GROUP BY window_end
EMIT ON WINDOW CLOSE;

CREATE MATERIALIZED VIEW busy_cities AS
WITH joined AS (
    SELECT s.city, t.fare, t.ended_at FROM trips t JOIN scooters s ON t.scooter_id = s.scooter_id
)
SELECT city, count(*) AS trips, sum(fare)::numeric AS fares FROM joined GROUP BY city;

CREATE MATERIALIZED VIEW recent AS
SELECT scooter_id, count(*) AS trips FROM trips
WHERE ended_at > NOW() - INTERVAL '1 day'
GROUP BY scooter_id;

CREATE MATERIALIZED VIEW best AS
SELECT * FROM (
    SELECT trip_id, scooter_id, fare,
        ROW_NUMBER() OVER (PARTITION BY scooter_id ORDER BY fare DESC) AS rank
    FROM trips
) ranked
WHERE rank <= 3;

CREATE MATERIALIZED VIEW last_charge AS
SELECT DISTINCT ON (scooter_id) scooter_id, details ->> 'station' AS station,
    details -> 'cost' ->> 'currency' AS currency, at
FROM charges
ORDER BY scooter_id, at DESC;

CREATE MATERIALIZED VIEW first_stops AS SELECT trip_id, stops[1] AS first_stop, (rider).tier FROM trips;

CREATE MATERIALIZED VIEW opened AS SELECT date_trunc('day', at) AS day, to_char(at, 'YYYY-MM-DD') AS label,
    extract(epoch from at) AS seconds
FROM pings WHERE battery < 20.5;

CREATE MATERIALIZED VIEW seen AS SELECT trip_id, now() AS seen_at FROM trips;

CREATE FUNCTION per_km(fare DOUBLE PRECISION, km DOUBLE PRECISION) RETURNS DOUBLE PRECISION
LANGUAGE SQL AS $$ SELECT fare / nullif(km, 0) $$;
CREATE FUNCTION masked(t VARCHAR) RETURNS VARCHAR LANGUAGE python AS $$
def masked(t): return t
$$;

CREATE SINK busy_out FROM busy_cities
WITH (connector = 'kafka', topic = 'busy', properties.bootstrap.server = 'broker-1:9092', primary_key = 'city')
FORMAT UPSERT ENCODE JSON;
CREATE SINK short_out AS SELECT trip_id, distance FROM trips WHERE distance < 1
WITH (connector = 'kafka', topic = 'short', properties.bootstrap.server = 'broker-1:9092', type = 'append-only');
CREATE SINK to_db FROM busy_cities WITH (connector = 'jdbc', jdbc.url = 'jdbc:postgresql://db/x', table.name = 'busy');

CREATE INDEX by_city ON busy_cities (city);
SHOW MATERIALIZED VIEWS;
