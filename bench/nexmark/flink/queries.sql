-- q0: every bid as it is
-- bid: auction, bidder, price, date_time, extra
CREATE TABLE {answer} (
  auction BIGINT, bidder BIGINT, price BIGINT, date_time TIMESTAMP(6), extra STRING
);
INSERT INTO {answer} SELECT auction, bidder, price, date_time, extra FROM bid;

-- q1: prices in another currency
-- bid: auction, bidder, price, date_time, extra
CREATE TABLE {answer} (
  auction BIGINT, bidder BIGINT, price DECIMAL(23, 3), date_time TIMESTAMP(6), extra STRING
);
INSERT INTO {answer} SELECT auction, bidder, 0.908 * price, date_time, extra FROM bid;

-- q2: bids on some auctions
-- bid: auction, price, date_time
CREATE TABLE {answer} (auction BIGINT, price BIGINT);
INSERT INTO {answer} SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0;

-- q5: the auctions with the most bids in ten seconds, every two seconds
-- bid: auction, date_time
CREATE TABLE {answer} (
  auction BIGINT, num BIGINT, window_start TIMESTAMP(6), window_end TIMESTAMP(6)
);
INSERT INTO {answer}
WITH counts AS (
  SELECT auction, COUNT(*) AS num, window_start, window_end
  FROM TABLE(HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
  GROUP BY auction, window_start, window_end
), highest AS (
  SELECT MAX(num) AS num, window_start, window_end FROM counts GROUP BY window_start, window_end
)
SELECT c.auction, c.num, c.window_start, c.window_end
FROM counts AS c JOIN highest AS h
  ON c.window_start = h.window_start AND c.window_end = h.window_end AND c.num = h.num;

-- q7: the highest bid of ten seconds, one if several are as high
-- bid: auction, bidder, price, date_time
CREATE TABLE {answer} (
  auction BIGINT, price BIGINT, bidder BIGINT, date_time TIMESTAMP(6), window_end TIMESTAMP(6)
);
INSERT INTO {answer}
SELECT auction, price, bidder, date_time, window_end
FROM (
  SELECT *,
    ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS place
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
)
WHERE place = 1;

-- q8: who signed up and opened an auction in the same ten seconds
-- person: id, name, date_time
-- auction: seller, date_time
CREATE TABLE {answer} (id BIGINT, name STRING, window_start TIMESTAMP(6));
INSERT INTO {answer}
WITH people AS (
  SELECT id, name, window_start, window_end
  FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
  GROUP BY id, name, window_start, window_end
), sellers AS (
  SELECT seller, window_start, window_end
  FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
  GROUP BY seller, window_start, window_end
)
SELECT p.id, p.name, p.window_start
FROM people AS p JOIN sellers AS s
  ON p.id = s.seller AND p.window_start = s.window_start AND p.window_end = s.window_end;

-- q11: how often a person bids in a session
-- bid: bidder, date_time
CREATE TABLE {answer} (
  bidder BIGINT, bids BIGINT, window_start TIMESTAMP(6), window_end TIMESTAMP(6)
);
-- Flink joins what is exactly a gap apart; times have milliseconds
INSERT INTO {answer}
SELECT bidder, COUNT(*), window_start, window_end + INTERVAL '0.001' SECOND
FROM TABLE(SESSION(
  TABLE bid PARTITION BY bidder, DESCRIPTOR(date_time), INTERVAL '9.999' SECOND
))
GROUP BY bidder, window_start, window_end;

-- q18: the last bid of a person on an auction
-- bid: auction, bidder, price, channel, url, date_time, extra
CREATE TABLE {answer} (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING,
  date_time TIMESTAMP(6), extra STRING,
  PRIMARY KEY (bidder, auction) NOT ENFORCED
) WITH ('format-version' = '2', 'write.upsert.enabled' = 'true');
INSERT INTO {answer}
SELECT auction, bidder, price, channel, url, date_time, extra
FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC) AS place
  FROM bid
)
WHERE place = 1;
