-- DuckDB: what the generators of the examples share. Variables: seed, size ('small' or 'full').
--
-- A random number is a hash of a row's number, a name and the seed. The same seed therefore makes
-- the same rows, in any order and on any number of threads.
SET TimeZone = 'UTC';
CREATE TEMP MACRO uniform(i, name) AS
  hash(i, name, getvariable('seed')) / 18446744073709551616.0;
CREATE TEMP MACRO pick(i, name, n) AS (hash(i, name, getvariable('seed')) % n)::BIGINT;
CREATE TEMP MACRO one_of(i, name, list) AS list[1 + pick(i, name, len(list))];
CREATE TEMP MACRO exponential(i, name, mean) AS -mean * ln(1 - uniform(i, name));
CREATE TEMP MACRO normal(i, name, mean, deviation) AS
  mean + deviation * sqrt(-2 * ln(1 - uniform(i, name))) * cos(2 * pi() * uniform(i, name || '2'));
-- 0 to n - 1; each doubling of the number is as probable as the one before, as with popularity.
CREATE TEMP MACRO popular(i, name, n) AS floor(exp(ln(n + 1) * uniform(i, name)) - 1)::BIGINT;
CREATE TEMP MACRO seconds(x) AS to_microseconds((x * 1000000)::BIGINT);
CREATE TEMP MACRO at_size(small, large) AS
  CASE getvariable('size') WHEN 'full' THEN large ELSE small END;

-- When a row arrives: a list, because a broker that delivers at least once repeats one row in 500.
CREATE TEMP MACRO arrives(i, sent) AS
  CASE WHEN pick(i, 'repeated', 500) = 0
       THEN [sent, sent + seconds(exponential(i, 'repeat', 20))]
       ELSE [sent] END;
-- Nearly all rows are sent within seconds; a share of them comes a mean of so many seconds late.
CREATE TEMP MACRO delayed(i, happened, share, mean) AS
  happened
  + seconds(exponential(i, 'delay', CASE WHEN uniform(i, 'late') < share THEN mean ELSE 1 END));
