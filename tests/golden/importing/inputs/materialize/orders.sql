-- Orders of a shop, in Materialize.
CREATE SECRET broker_password AS 'hidden';
CREATE CONNECTION broker TO KAFKA (
    BROKER 'broker:9092',
    SECURITY PROTOCOL = 'SASL_SSL',
    SASL MECHANISMS = 'SCRAM-SHA-512',
    SASL USERNAME = 'shop',
    SASL PASSWORD = SECRET broker_password
);
CREATE CONNECTION schemas TO CONFLUENT SCHEMA REGISTRY (URL 'http://registry:8081');
CREATE CONNECTION db TO POSTGRES (HOST 'db', PORT 5432, USER 'mz', PASSWORD SECRET broker_password, DATABASE 'shop');

CREATE SOURCE orders
    IN CLUSTER quickstart
    FROM KAFKA CONNECTION broker (TOPIC 'orders')
    FORMAT JSON
    INCLUDE TIMESTAMP AS arrived, PARTITION
    ENVELOPE NONE;
CREATE SOURCE logs FROM KAFKA CONNECTION broker (TOPIC 'logs') FORMAT TEXT;
CREATE SOURCE lines (sku, price) FROM KAFKA CONNECTION broker (TOPIC 'lines') FORMAT CSV WITH 2 COLUMNS;
CREATE SOURCE items FROM KAFKA CONNECTION broker (TOPIC 'items')
    FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION schemas ENVELOPE DEBEZIUM;
CREATE SOURCE shop FROM POSTGRES CONNECTION db (PUBLICATION 'mz_source') FOR ALL TABLES;
CREATE SOURCE house FROM LOAD GENERATOR AUCTION (TICK INTERVAL '1s') FOR ALL TABLES;
CREATE SOURCE counter FROM LOAD GENERATOR COUNTER;
CREATE TABLE countries (code char(2) NOT NULL, name text);
INSERT INTO countries VALUES ('ch', 'Switzerland');

CREATE VIEW parsed AS
    SELECT (data->>'id')::bigint AS id, data->>'country' AS country,
        (data->'total'->>'amount')::numeric AS amount,
        (data->'paid')::boolean AS paid,
        (data->>'at')::timestamp AS at
    FROM orders;

CREATE MATERIALIZED VIEW per_country IN CLUSTER quickstart AS
    SELECT c.name, count(*), sum(p.amount) AS amount
    FROM parsed p JOIN countries c ON c.code = p.country
    GROUP BY c.name;

CREATE MATERIALIZED VIEW open_auctions AS
    SELECT id, seller, item, end_time FROM auctions WHERE mz_now() <= end_time;

CREATE MATERIALIZED VIEW last_minute AS
    SELECT auction_id, count(*) AS bids, max(amount) AS highest
    FROM bids
    WHERE mz_now() >= bid_time AND mz_now() < bid_time + INTERVAL '1 minute'
    GROUP BY auction_id;

CREATE VIEW winning AS
    SELECT DISTINCT ON (auctions.id) bids.id, auctions.id AS auction_id, bids.amount, auctions.end_time
    FROM auctions, bids
    WHERE auctions.id = bids.auction_id
    ORDER BY auctions.id, bids.amount DESC, bids.buyer;

CREATE VIEW buyers AS
    SELECT u.name, array_agg(b.amount ORDER BY b.bid_time) AS amounts
    FROM users u, LATERAL (SELECT amount, bid_time FROM bids WHERE bids.buyer = u.id LIMIT 3) b
    GROUP BY u.name;

CREATE MATERIALIZED VIEW later AS SELECT id FROM bids WHERE mz_now() > bid_time + INTERVAL '5 minutes';
CREATE MATERIALIZED VIEW ids AS
    WITH MUTUALLY RECURSIVE r (n int) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r;

CREATE SINK per_country_out FROM per_country INTO KAFKA CONNECTION broker (TOPIC 'per_country')
    KEY (name) FORMAT AVRO USING CONFLUENT SCHEMA REGISTRY CONNECTION schemas ENVELOPE UPSERT;
CREATE INDEX by_country ON per_country (name);
SELECT * FROM per_country;
