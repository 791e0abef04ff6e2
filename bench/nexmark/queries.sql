-- q0: every bid as it is
CREATE STREAMING VIEW q0 AS
SELECT auction, bidder, price, date_time, extra FROM bid;
-- duckdb
SELECT auction, bidder, price, date_time, extra FROM bid

-- q1: prices in another currency
CREATE STREAMING VIEW q1 AS
SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid;
-- duckdb
SELECT auction, bidder, price * 0.908::DECIMAL(4, 3) AS price, date_time, extra FROM bid

-- q2: bids on some auctions
CREATE STREAMING VIEW q2 AS
SELECT auction, price FROM bid WHERE mod(auction, 123) = 0;
-- duckdb
SELECT auction, price FROM bid WHERE auction % 123 = 0

-- q3: who sells in three states, in one category
CREATE STREAMING VIEW q3 AS
SELECT p.name, p.city, p.state, a.id
FROM auction AS a JOIN person AS p ON a.seller = p.id
WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA');
-- duckdb
SELECT p.name, p.city, p.state, a.id
FROM auction AS a, person AS p
WHERE a.seller = p.id AND a.category = 10 AND p.state IN ('OR', 'ID', 'CA')

-- q4: the average closing price of a category
CREATE STREAMING VIEW q4 AS
SELECT category, avg(final) AS final
FROM (
  SELECT max(b.price) AS final, a.category
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
  GROUP BY a.id, a.category
) AS closed
GROUP BY category;
-- duckdb
WITH closed AS (
  SELECT a.id, a.category, max(b.price) AS final
  FROM auction AS a, bid AS b
  WHERE a.id = b.auction AND b.date_time >= a.date_time AND b.date_time <= a.expires
  GROUP BY ALL
)
SELECT category, avg(final) AS final FROM closed GROUP BY category

-- q5: the auctions with the most bids in ten seconds, every two seconds
CREATE STREAMING VIEW q5 AS
SELECT auction, num, window_start, window_end
FROM (
  SELECT auction, count(*) AS num, window_start, window_end
  FROM HOP(bid, date_time, INTERVAL '2' SECOND, INTERVAL '10' SECOND)
  GROUP BY auction, window_start, window_end
) AS bids
QUALIFY rank() OVER (PARTITION BY window_start, window_end ORDER BY num DESC) = 1
EMIT ON WINDOW CLOSE;
-- duckdb
WITH bids AS (
  SELECT auction, w AS window_start, count(*) AS num
  FROM bid, unnest(range(time_bucket(INTERVAL '2 seconds', date_time) - INTERVAL '8 seconds',
    time_bucket(INTERVAL '2 seconds', date_time) + INTERVAL '1 second', INTERVAL '2 seconds')) AS u(w)
  GROUP BY ALL
), most AS (SELECT window_start, max(num) AS num FROM bids GROUP BY ALL)
SELECT auction, num, window_start, window_start + INTERVAL '10 seconds' AS window_end
FROM bids JOIN most USING (window_start, num)

-- q6: the average closing price of a seller's last auctions
CREATE STREAMING VIEW q6 AS
SELECT id, seller,
  avg(final) OVER (PARTITION BY seller ORDER BY date_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS final
FROM (
  SELECT a.id, a.seller, b.price AS final, b.date_time
  FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
  QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time) = 1
) AS closed;
-- duckdb
WITH closed AS (
  SELECT a.id, a.seller, max(b.price) AS final, min_by(b.date_time, (-b.price, b.date_time)) AS date_time
  FROM auction AS a, bid AS b
  WHERE a.id = b.auction AND b.date_time >= a.date_time AND b.date_time <= a.expires
  GROUP BY ALL
)
SELECT id, seller,
  avg(final) OVER (PARTITION BY seller ORDER BY date_time ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS final
FROM closed

-- q7: the highest bid of ten seconds
CREATE STREAMING VIEW q7 AS
SELECT b.auction, b.price, b.bidder, b.date_time, m.window_end
FROM TUMBLE(bid, date_time, INTERVAL '10' SECOND) AS b
JOIN (
  SELECT max(price) AS price, window_start, window_end
  FROM TUMBLE(bid, date_time, INTERVAL '10' SECOND) GROUP BY window_start, window_end
) AS m ON b.price = m.price AND b.window_start = m.window_start AND b.window_end = m.window_end
EMIT ON WINDOW CLOSE;
-- duckdb
SELECT auction, price, bidder, date_time,
  time_bucket(INTERVAL '10 seconds', date_time) + INTERVAL '10 seconds' AS window_end
FROM bid
QUALIFY price = max(price) OVER (PARTITION BY time_bucket(INTERVAL '10 seconds', date_time))

-- q8: who signed up and opened an auction in the same ten seconds
CREATE STREAMING VIEW q8 AS
SELECT p.id, p.name, p.window_start
FROM (
  SELECT id, name, window_start, window_end
  FROM TUMBLE(person, date_time, INTERVAL '10' SECOND) GROUP BY id, name, window_start, window_end
) AS p
JOIN (
  SELECT seller, window_start, window_end
  FROM TUMBLE(auction, date_time, INTERVAL '10' SECOND) GROUP BY seller, window_start, window_end
) AS a ON p.id = a.seller AND p.window_start = a.window_start AND p.window_end = a.window_end
EMIT ON WINDOW CLOSE;
-- duckdb
SELECT DISTINCT p.id, p.name, time_bucket(INTERVAL '10 seconds', p.date_time) AS window_start
FROM person AS p, auction AS a
WHERE p.id = a.seller
  AND time_bucket(INTERVAL '10 seconds', p.date_time) = time_bucket(INTERVAL '10 seconds', a.date_time)

-- q9: the winning bid of each auction
CREATE STREAMING VIEW q9 AS
SELECT a.id, a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller,
  a.category, a.extra, b.auction, b.bidder, b.price, b.date_time AS bid_date_time, b.extra AS bid_extra
FROM auction AS a JOIN bid AS b ON a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
QUALIFY row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time) = 1;
-- duckdb
SELECT a.*, b.auction, b.bidder, b.price, b.date_time AS bid_date_time, b.extra AS bid_extra
FROM auction AS a, LATERAL (
  FROM bid WHERE auction = a.id AND date_time >= a.date_time AND date_time <= a.expires
  ORDER BY price DESC, date_time LIMIT 1
) AS b

-- q10: every bid, with its day and minute as text
CREATE STREAMING VIEW q10 PARTITIONED BY (dt) AS
SELECT auction, bidder, price, date_time, extra,
  date_format(date_time, '%Y-%m-%d') AS dt, date_format(date_time, '%H:%i') AS hm
FROM bid;
-- duckdb
SELECT auction, bidder, price, date_time, extra,
  strftime(date_time, '%Y-%m-%d') AS dt, strftime(date_time, '%H:%M') AS hm
FROM bid

-- q11: how often a person bids in a session
CREATE STREAMING VIEW q11 AS
SELECT bidder, count(*) AS bids, window_start, window_end
FROM SESSION(bid PARTITION BY bidder, date_time, INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end
EMIT ON WINDOW CLOSE;
-- duckdb
WITH marked AS (
  SELECT bidder, date_time, coalesce(date_time >= lag(date_time) OVER w + INTERVAL '10 seconds', true) AS first
  FROM bid WINDOW w AS (PARTITION BY bidder ORDER BY date_time)
), numbered AS (
  SELECT *, count(*) FILTER (WHERE first) OVER (PARTITION BY bidder ORDER BY date_time) AS session FROM marked
)
SELECT bidder, count(*) AS bids, min(date_time) AS window_start,
  max(date_time) + INTERVAL '10 seconds' AS window_end
FROM numbered GROUP BY bidder, session

-- q12: how often a person bids in ten seconds of the clock on the wall
CREATE STREAMING VIEW q12 AS
SELECT bidder, count(*) AS bids, window_start, window_end
FROM TUMBLE(bid, PROCTIME(), INTERVAL '10' SECOND)
GROUP BY bidder, window_start, window_end;
-- duckdb
SELECT bidder, count(*) AS bids, now() AS window_start, now() AS window_end FROM bid GROUP BY bidder

-- q13: bids with what a table knows of the auction
CREATE STREAMING VIEW q13 AS
SELECT b.auction, b.bidder, b.price, b.date_time, s.value
FROM bid AS b JOIN side_input AS s ON mod(b.auction, 10000) = s.key;
-- duckdb
SELECT b.auction, b.bidder, b.price, b.date_time, s.value
FROM bid AS b, side_input AS s WHERE b.auction % 10000 = s.key

-- q14: a function of the project, and a time of the day
CREATE FUNCTION count_char(text VARCHAR, letter VARCHAR) RETURNS BIGINT
RETURN length(text) - length(replace(text, letter, ''));
CREATE STREAMING VIEW q14 AS
SELECT auction, bidder, 0.908 * price AS price,
  CASE WHEN hour(date_time) >= 8 AND hour(date_time) <= 18 THEN 'dayTime'
    WHEN hour(date_time) <= 6 OR hour(date_time) >= 20 THEN 'nightTime'
    ELSE 'otherTime' END AS bid_time_type,
  date_time, extra, count_char(extra, 'c') AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000;
-- duckdb
SELECT auction, bidder, price * 0.908::DECIMAL(4, 3) AS price,
  CASE WHEN hour(date_time) BETWEEN 8 AND 18 THEN 'dayTime'
    WHEN hour(date_time) IN (7, 19) THEN 'otherTime' ELSE 'nightTime' END AS bid_time_type,
  date_time, extra, len(regexp_extract_all(extra, 'c')) AS c_counts
FROM bid
WHERE price * 908 > 1000000000 AND price * 908 < 50000000000

-- q15: the bids of a day in numbers
CREATE STREAMING VIEW q15 AS
SELECT date_format(date_time, '%Y-%m-%d') AS day, count(*) AS total_bids,
  count(*) FILTER (WHERE price < 10000) AS rank1_bids,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  count(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
  count(DISTINCT bidder) AS total_bidders,
  count(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders,
  count(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bidders,
  count(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders,
  count(DISTINCT auction) AS total_auctions,
  count(DISTINCT auction) FILTER (WHERE price < 10000) AS rank1_auctions,
  count(DISTINCT auction) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_auctions,
  count(DISTINCT auction) FILTER (WHERE price >= 1000000) AS rank3_auctions
FROM bid GROUP BY 1;
-- duckdb
SELECT strftime(date_time, '%Y-%m-%d') AS day, count(*) AS total_bids,
  count_if(price < 10000) AS rank1_bids,
  count_if(price BETWEEN 10000 AND 999999) AS rank2_bids,
  count_if(price >= 1000000) AS rank3_bids,
  count(DISTINCT bidder) AS total_bidders,
  count(DISTINCT CASE WHEN price < 10000 THEN bidder END) AS rank1_bidders,
  count(DISTINCT CASE WHEN price BETWEEN 10000 AND 999999 THEN bidder END) AS rank2_bidders,
  count(DISTINCT CASE WHEN price >= 1000000 THEN bidder END) AS rank3_bidders,
  count(DISTINCT auction) AS total_auctions,
  count(DISTINCT CASE WHEN price < 10000 THEN auction END) AS rank1_auctions,
  count(DISTINCT CASE WHEN price BETWEEN 10000 AND 999999 THEN auction END) AS rank2_auctions,
  count(DISTINCT CASE WHEN price >= 1000000 THEN auction END) AS rank3_auctions
FROM bid GROUP BY ALL

-- q16: the bids of a channel and day in numbers
CREATE STREAMING VIEW q16 AS
SELECT channel, date_format(date_time, '%Y-%m-%d') AS day, max(date_format(date_time, '%H:%i')) AS minute,
  count(*) AS total_bids,
  count(*) FILTER (WHERE price < 10000) AS rank1_bids,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  count(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
  count(DISTINCT bidder) AS total_bidders,
  count(DISTINCT bidder) FILTER (WHERE price < 10000) AS rank1_bidders,
  count(DISTINCT bidder) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bidders,
  count(DISTINCT bidder) FILTER (WHERE price >= 1000000) AS rank3_bidders,
  count(DISTINCT auction) AS total_auctions,
  count(DISTINCT auction) FILTER (WHERE price < 10000) AS rank1_auctions,
  count(DISTINCT auction) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_auctions,
  count(DISTINCT auction) FILTER (WHERE price >= 1000000) AS rank3_auctions
FROM bid GROUP BY channel, 2;
-- duckdb
SELECT channel, strftime(date_time, '%Y-%m-%d') AS day, strftime(max(date_time), '%H:%M') AS minute,
  count(*) AS total_bids,
  count_if(price < 10000) AS rank1_bids,
  count_if(price BETWEEN 10000 AND 999999) AS rank2_bids,
  count_if(price >= 1000000) AS rank3_bids,
  count(DISTINCT bidder) AS total_bidders,
  count(DISTINCT CASE WHEN price < 10000 THEN bidder END) AS rank1_bidders,
  count(DISTINCT CASE WHEN price BETWEEN 10000 AND 999999 THEN bidder END) AS rank2_bidders,
  count(DISTINCT CASE WHEN price >= 1000000 THEN bidder END) AS rank3_bidders,
  count(DISTINCT auction) AS total_auctions,
  count(DISTINCT CASE WHEN price < 10000 THEN auction END) AS rank1_auctions,
  count(DISTINCT CASE WHEN price BETWEEN 10000 AND 999999 THEN auction END) AS rank2_auctions,
  count(DISTINCT CASE WHEN price >= 1000000 THEN auction END) AS rank3_auctions
FROM bid GROUP BY channel, day

-- q17: the bids on an auction and day in numbers
CREATE STREAMING VIEW q17 AS
SELECT auction, date_format(date_time, '%Y-%m-%d') AS day, count(*) AS total_bids,
  count(*) FILTER (WHERE price < 10000) AS rank1_bids,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  count(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
  min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
FROM bid GROUP BY auction, 2;
-- duckdb
SELECT auction, strftime(date_time, '%Y-%m-%d') AS day, count(*) AS total_bids,
  count_if(price < 10000) AS rank1_bids,
  count_if(price BETWEEN 10000 AND 999999) AS rank2_bids,
  count_if(price >= 1000000) AS rank3_bids,
  min(price) AS min_price, max(price) AS max_price, avg(price) AS avg_price, sum(price) AS sum_price
FROM bid GROUP BY auction, day

-- q18: the last bid of a person on an auction
CREATE STREAMING VIEW q18 AS
SELECT auction, bidder, price, channel, url, date_time, extra FROM bid
QUALIFY row_number() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC) = 1;
-- duckdb
SELECT auction, bidder, price, channel, url, date_time, extra
FROM bid SEMI JOIN (SELECT bidder, auction, max(date_time) AS date_time FROM bid GROUP BY ALL) AS last
USING (bidder, auction, date_time)

-- q19: the ten highest bids of an auction
CREATE STREAMING VIEW q19 AS
SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time) AS rank_number FROM bid
QUALIFY row_number() OVER (PARTITION BY auction ORDER BY price DESC, date_time) <= 10;
-- duckdb
SELECT b.*, u.n AS rank_number
FROM (SELECT list({'b': b} ORDER BY price DESC, date_time)[:10] AS best FROM bid AS b GROUP BY auction),
  LATERAL (SELECT unnest(best, recursive := true), generate_subscripts(best, 1)) AS u(auction, bidder,
    price, channel, url, date_time, extra, n), LATERAL (SELECT u.* EXCLUDE (n)) AS b

-- q20: bids with their auction, of one category
CREATE STREAMING VIEW q20 AS
SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_date_time, b.extra AS bid_extra,
  a.item_name, a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category, a.extra
FROM bid AS b JOIN auction AS a ON b.auction = a.id
WHERE a.category = 10;
-- duckdb
SELECT b.auction, b.bidder, b.price, b.channel, b.url, b.date_time AS bid_date_time, b.extra AS bid_extra,
  a.* EXCLUDE (id)
FROM bid AS b, auction AS a WHERE b.auction = a.id AND a.category = 10

-- q21: the number of the channel, out of its name or its address
CREATE STREAMING VIEW q21 AS
SELECT auction, bidder, price, channel,
  CASE WHEN lower(channel) = 'apple' THEN '0' WHEN lower(channel) = 'google' THEN '1'
    WHEN lower(channel) = 'facebook' THEN '2' WHEN lower(channel) = 'baidu' THEN '3'
    ELSE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
FROM bid
WHERE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
  OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu');
-- duckdb
SELECT auction, bidder, price, channel, channel_id
FROM (
  SELECT *, CASE WHEN channel IN ('Apple', 'Google', 'Facebook', 'Baidu')
    THEN (list_position(['Apple', 'Google', 'Facebook', 'Baidu'], channel) - 1)::VARCHAR
    WHEN contains(url, '&channel_id=') THEN split_part(split_part(url, '&channel_id=', 2), '&', 1)
    END AS channel_id
  FROM bid
) WHERE channel_id IS NOT NULL

-- q22: the folders of an address
CREATE STREAMING VIEW q22 AS
SELECT auction, bidder, price, channel,
  split_part(url, '/', 4) AS dir1, split_part(url, '/', 5) AS dir2, split_part(url, '/', 6) AS dir3
FROM bid;
-- duckdb
SELECT auction, bidder, price, channel, parts[4] AS dir1, parts[5] AS dir2, parts[6] AS dir3
FROM (SELECT *, string_split(url, '/') AS parts FROM bid)
