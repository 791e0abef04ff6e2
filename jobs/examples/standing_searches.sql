-- A day of articles, and searches that wait for them. Of the searches, 100 look for two words that no
-- other article has: three articles match each of these searches, and three more nearly do. Twenty of
-- the 100 are deleted in the evening, so 80 searches have three articles each.
SET VARIABLE articles = at_size(3000, 60000);
SET VARIABLE searches = at_size(400, 4000);
CREATE TEMP MACRO syllable(n) AS ['ba', 'ko', 'mi', 'ren', 'tas', 'lu', 'vor', 'den', 'gul', 'fi'][1 + n % 10];
CREATE TEMP MACRO word(n) AS
  syllable(n // 1000) || syllable(n // 100) || syllable(n // 10) || syllable(n);
-- The words from 9000 on are the rare ones; three of them belong to a search.
CREATE TEMP MACRO common(i, name) AS word(popular(i, name, 9000));
CREATE TEMP MACRO rare(search, n) AS word(9000 + 3 * search + n);
CREATE TEMP MACRO at_second(after_midnight) AS TIMESTAMPTZ '2026-03-02 00:00:00Z' + seconds(after_midnight::DOUBLE);

CREATE TEMP TABLE search AS
SELECT
  i AS search_id,
  'Reader ' || i // 3 AS reader,
  CASE WHEN i < 100 THEN [rare(i, 0), rare(i, 1)] ELSE [common(i, 'first'), common(i, 'second')] END AS words,
  CASE WHEN i < 100 THEN [rare(i, 2)] WHEN i % 2 = 0 THEN [common(i, 'without')] END AS without,
  at_second(21600 * uniform(i, 'since')) AS since
FROM range(getvariable('searches')) AS r(i);

CREATE TEMP TABLE searches AS
SELECT search_id, reader, words, without, since, false AS deleted, arrives(search_id, since) AS _arrivals FROM search
UNION ALL
-- At noon one reader in five drops what is excluded and takes it back an hour later.
SELECT search_id, reader, words, NULL, since, false, [at_second(43200)] FROM search WHERE search_id % 5 = 0
UNION ALL
SELECT search_id, reader, words, without, since, false, [at_second(46800)] FROM search WHERE search_id % 5 = 0
UNION ALL
SELECT search_id, reader, words, without, since, true, [at_second(72000)]
FROM search WHERE search_id BETWEEN 80 AND 99;

CREATE TEMP TABLE text AS
SELECT i, at_second(86000 * uniform(i, 'published')) AS published_at,
  (SELECT string_agg(common(i * 100 + n, 'word'), ' ' ORDER BY n) FROM range(40) AS w(n)) AS body
FROM range(getvariable('articles')) AS r(i)
UNION ALL
SELECT -(10 * search_id + n),
  CASE WHEN n = 3 THEN since - seconds(0.001) ELSE since + seconds(60000 * uniform(search_id * 10 + n, 'scoop')) END,
  common(search_id * 10 + n, 'begin') || CASE n
    -- Three that match, whatever their case and punctuation; one of them at the very first moment.
    WHEN 0 THEN ': ' || upper(words[1]) || ' ' || words[2]
    WHEN 1 THEN ', ' || words[2] || ', ' || words[1]
    WHEN 2 THEN ' "' || words[2] || '-' || words[1] || '."'
    -- Three that do not: too old, a word too few, an excluded word.
    WHEN 3 THEN ' ' || words[1] || ' ' || words[2]
    WHEN 4 THEN ' ' || words[1] || ' ' || words[2] || 's'
    ELSE ' ' || words[1] || ' ' || words[2] || ' ' || without[1] END
FROM search, range(6) AS c(n) WHERE search_id < 100;
UPDATE text SET published_at = since FROM search WHERE i = -10 * search_id AND search_id BETWEEN 1 AND 99;

CREATE TEMP TABLE articles AS
SELECT
  article_id,
  one_of(article_id, 'section', ['politics', 'economy', 'sport', 'culture']) AS section,
  body,
  published_at,
  -- An agency that was offline sends its articles an hour late.
  arrives(article_id, delayed(article_id, published_at, 0.03, 3600)) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY published_at, i) AS article_id, published_at, body FROM text);
