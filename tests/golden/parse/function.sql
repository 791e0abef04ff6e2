---
SELECT CAST(a AS ARRAY(BIGINT)), CAST(b AS MAP(VARCHAR, BIGINT)), CAST(c AS ROW(x BIGINT, y VARCHAR)) FROM t

---
SELECT transform(arr, x -> x + 1), filter(arr, x -> x > 1), reduce(arr, 0, (s, x) -> s + x, s -> s) FROM t

---
SELECT any_match(arr, x -> x = 1), all_match(arr, x -> x = 1), none_match(arr, x -> x > 1) FROM t

---
SELECT substr(a, 1, 2), substring(a, 1, 2), upper(a), lower(a), trim(a), ltrim(a), rtrim(a), length(a), replace(a, 'x', 'y'), split(a, ','), strpos(a, 'x'), concat(a, b), reverse(a), lpad(a, 5, ' '), position('x' IN a), starts_with(a, 'x') FROM t
--- prints
SELECT SUBSTR(a, 1, 2), SUBSTR(a, 1, 2), UPPER(a), LOWER(a), TRIM(a), LTRIM(a), RTRIM(a), LENGTH(a), REPLACE(a, 'x', 'y'), SPLIT(a, ','), STRPOS(a, 'x'), CONCAT(a, b), REVERSE(a), LPAD(a, 5, ' '), STRPOS(a, 'x'), STARTS_WITH(a, 'x') FROM t

---
SELECT concat_ws(',', a, b), split_part(a, ',', 1), regexp_like(a, 'x'), regexp_extract(a, 'x(.)', 1), regexp_replace(a, 'x', 'y'), chr(65), codepoint('a'), levenshtein_distance(a, b), to_hex(a), from_hex(b), md5(a), sha256(a), xxhash64(a), to_utf8(a), from_utf8(b) FROM t
--- prints
SELECT CONCAT_WS(',', a, b), SPLIT_PART(a, ',', 1), REGEXP_LIKE(a, 'x'), REGEXP_EXTRACT(a, 'x(.)', 1), REGEXP_REPLACE(a, 'x', 'y'), chr(65), codepoint('a'), LEVENSHTEIN_DISTANCE(a, b), to_hex(a), from_hex(b), md5(a), sha256(a), xxhash64(a), to_utf8(a), from_utf8(b) FROM t

---
SELECT abs(a), ceil(a), floor(a), round(a, 2), truncate(a), mod(a, 2), power(a, 2), sqrt(a), ln(a), log10(a), log(2, a), exp(a), sign(a), pi(), degrees(a), radians(a), sin(a), atan2(a, b), width_bucket(a, 1, 2, 3) FROM t
--- prints
SELECT ABS(a), CEIL(a), FLOOR(a), ROUND(a, 2), TRUNCATE(a), a % 2, POWER(a, 2), SQRT(a), LN(a), log10(a), log(2, a), EXP(a), SIGN(a), PI(), DEGREES(a), RADIANS(a), SIN(a), ATAN2(a, b), width_bucket(a, 1, 2, 3) FROM t

---
SELECT date_add('day', 1, ts), date_diff('minute', a, b), date_format(ts, '%Y-%m-%d'), date_parse(s, '%Y-%m-%d'), from_unixtime(a), to_unixtime(ts), from_iso8601_timestamp(s), to_iso8601(ts), date(ts), last_day_of_month(ts) FROM t
--- prints
SELECT DATE_ADD('DAY', 1, ts), DATE_DIFF('MINUTE', a, b), DATE_FORMAT(ts, '%Y-%m-%d'), CAST(CASE WHEN REGEXP_LIKE(s, '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\z') THEN REGEXP_REPLACE(s, '^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\z', '$1-$2-$3 00:00:00') ELSE 'no match: ' || s END AS TIMESTAMP), FROM_UNIXTIME(a), TO_UNIXTIME(ts), FROM_ISO8601_TIMESTAMP(s), to_iso8601(ts), DATE(ts), LAST_DAY_OF_MONTH(ts) FROM t

---
SELECT json_extract_scalar(j, '$.a.b'), json_extract(j, '$.a'), json_parse(s), json_format(j), json_value(j, 'lax $.a'), json_query(j, 'lax $.a' WITH WRAPPER) FROM t
--- prints
SELECT JSON_EXTRACT_SCALAR(j, '$.a.b'), JSON_EXTRACT(j, '$.a'), JSON_PARSE(s), JSON_FORMAT(j), JSON_VALUE(j, 'lax $.a'), JSON_QUERY(j, 'lax $.a' WITH WRAPPER) FROM t

---
SELECT cardinality(a), contains(a, 1), element_at(a, 1), array_distinct(a), array_join(a, ','), array_sort(a), flatten(a), slice(a, 1, 2), array_max(a), array_min(a), sequence(1, 10), array_position(a, 1), arrays_overlap(a, b), array_union(a, b), array_intersect(a, b), array_except(a, b), array_remove(a, 1), repeat(a, 2), zip(a, b) FROM t
--- prints
SELECT CARDINALITY(a), CONTAINS(a, 1), ELEMENT_AT(a, 1), array_distinct(a), array_join(a, ','), array_sort(a), flatten(a), slice(a, 1, 2), array_max(a), array_min(a), sequence(1, 10), array_position(a, 1), arrays_overlap(a, b), array_union(a, b), array_intersect(a, b), array_except(a, b), array_remove(a, 1), repeat(a, 2), zip(a, b) FROM t

---
SELECT map(ARRAY['a'], ARRAY[1]), map_keys(m), map_values(m), map_agg(a, b), map_concat(m, n), map_from_entries(e), map_entries(m), histogram(a), multimap_agg(a, b), map_filter(m, (k, v) -> v > 1), transform_values(m, (k, v) -> v + 1) FROM t
--- prints
SELECT map(ARRAY['a'], ARRAY[1]), map_keys(m), map_values(m), map_agg(a, b), map_concat(m, n), MAP_FROM_ENTRIES(e), map_entries(m), histogram(a), multimap_agg(a, b), map_filter(m, (k, v) -> v > 1), transform_values(m, (k, v) -> v + 1) FROM t

---
SELECT ROW(1, 'a'), CAST(ROW(1, 'a') AS ROW(x BIGINT, y VARCHAR)), r.x.y FROM t
--- prints
SELECT ROW(1 AS field0, 'a' AS field1), ROW(CAST(1 AS BIGINT) AS x, CAST('a' AS VARCHAR) AS y), r.x.y FROM t

---
SELECT bitwise_and(a, b), bitwise_or(a, b), bitwise_xor(a, b), bitwise_not(a), checksum(a), typeof(a), uuid(), random(), rand() FROM t
--- prints
SELECT BITWISE_AND(a, b), BITWISE_OR(a, b), BITWISE_XOR(a, b), BITWISE_NOT(a), checksum(a), TYPEOF(a), UUID(), RAND(), RAND() FROM t

---
SELECT approx_set(a), merge(b), tdigest_agg(c), numeric_histogram(3, a) FROM t

---
SELECT try(a / b), a / b, format('%d', a), human_readable_seconds(a) FROM t
--- prints
SELECT TRY(a / b), a / b, FORMAT('%d', a), human_readable_seconds(a) FROM t

---
SELECT count_if(a > 1), kurtosis(a), skewness(a), entropy(a), bitwise_and_agg(a), approx_most_frequent(3, a, 10) FROM t
--- prints
SELECT COUNT_IF(a > 1), KURTOSIS(a), SKEWNESS(a), entropy(a), BITWISE_AND_AGG(a), approx_most_frequent(3, a, 10) FROM t

---
SELECT url_extract_host(a), word_stem(a), soundex(a), great_circle_distance(a, b, c, d) FROM t
--- prints
SELECT url_extract_host(a), word_stem(a), SOUNDEX(a), great_circle_distance(a, b, c, d) FROM t

---
SELECT with_timezone(ts, 'UTC'), timezone_hour(ts), parse_datetime(a, 'yyyy'), format_datetime(ts, 'yyyy'), date_format(ts, '%H:%i:%s') FROM t
--- prints
SELECT with_timezone(ts, 'UTC'), timezone_hour(ts), CAST(CAST(CASE WHEN REGEXP_LIKE(a, '^([0-9]{4})\z') THEN REGEXP_REPLACE(a, '^([0-9]{4})\z', '$1-01-01 00:00:00') ELSE 'no match: ' || a END AS TIMESTAMP) AS TIMESTAMP WITH TIME ZONE), DATE_FORMAT(ts, '%Y'), DATE_FORMAT(ts, '%T') FROM t
