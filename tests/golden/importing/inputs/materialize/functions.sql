-- Every function that the tables of PostgreSQL and Materialize have, and the shapes of queries.
CREATE TABLE t (
    s text, p text, i int, b bigint, d double precision, n numeric(10, 2), xs text[], j jsonb, k text, ts timestamptz
);
CREATE TABLE r (k text, rate double precision);
CREATE VIEW texts AS SELECT btrim(s) AS a, character_length(s) AS b, lcase(s) AS c, ucase(s) AS d, left(s, 2) AS e,
    position(p IN s) AS f, substr(s, 2) AS g, substr(s, 2, 3) AS h, convert_from(s, 'utf8') AS i, split_part(s, ',', 1) AS j FROM t;
CREATE VIEW arrays AS SELECT array_length(xs, 1) AS a, array_length(xs) AS b, cardinality(xs) AS c, array_contains(xs, 'a') AS d, xs[2] AS e FROM t;
CREATE VIEW numbers AS SELECT ceiling(d) AS a, acos(d) AS b, asin(d) AS c, to_timestamp(b) AS e, n / 3 AS f, n::numeric AS g, d::bigint AS h FROM t;
CREATE VIEW documents AS SELECT j ->> 'a' AS a, j -> 'b' ->> 'c' AS b, (j -> 'd')::int AS c FROM t;
CREATE VIEW no_bin AS SELECT date_bin('1 minute', ts, ts) AS a FROM t;
CREATE VIEW no_random AS SELECT random() AS a FROM t;
CREATE VIEW no_uuid AS SELECT gen_random_uuid() AS a FROM t;
CREATE VIEW no_uuid4 AS SELECT uuid_generate_v4() AS a FROM t;
CREATE VIEW no_md5 AS SELECT md5(s) AS a FROM t;
CREATE VIEW no_count AS SELECT regexp_count(s, 'a') AS a FROM t;
CREATE VIEW no_match AS SELECT regexp_match(s, 'a') AS a FROM t;
CREATE VIEW no_matches AS SELECT regexp_matches(s, 'a') AS a FROM t;
CREATE VIEW no_json AS SELECT to_jsonb(s) AS a FROM t;
CREATE VIEW no_json_length AS SELECT jsonb_array_length(j) AS a FROM t;
CREATE VIEW last_hour AS SELECT k FROM t WHERE ts + INTERVAL '1 hour' > now();
CREATE VIEW between_times AS SELECT k FROM t WHERE now() BETWEEN ts AND ts + INTERVAL '1 hour';
CREATE VIEW no_event_time AS SELECT k FROM (SELECT k, max(ts) AS last FROM t GROUP BY k) x WHERE last > now() - INTERVAL '1 hour';
CREATE VIEW later AS SELECT k FROM t WHERE now() > ts + INTERVAL '1 hour';
CREATE MATERIALIZED VIEW pairs (first, second) AS SELECT k, count(*) FROM t GROUP BY k;
CREATE MATERIALIZED VIEW defaults AS SELECT count(*), sum(i), max(i) + 1, CASE WHEN i > 1 THEN 1 END FROM t GROUP BY i;
CREATE VIEW lists AS SELECT k, list_agg(i) AS a FROM t GROUP BY k;
CREATE VIEW list_lengths AS SELECT list_length(xs) AS a, try_parse_monotonic_iso8601_timestamp(s) AS b FROM t;
CREATE VIEW no_logical AS SELECT mz_logical_timestamp() AS a FROM t;
CREATE VIEW no_agg AS SELECT jsonb_agg(s) AS a FROM t;
CREATE VIEW no_build AS SELECT jsonb_build_object('a', s) AS a FROM t;
CREATE VIEW no_object AS SELECT jsonb_object_agg(s, s) AS a FROM t;
CREATE VIEW in_milliseconds AS SELECT k FROM t WHERE mz_now() < b + 30000;
