-- A day of incidents. While one lasts, services ask for a notification every few minutes. A user has
-- at most one incident of a topic, so the number of incidents is the number of messages to send.
SET VARIABLE users = at_size(500, 200000);

CREATE TEMP TABLE incident AS
SELECT
  i,
  i % getvariable('users') AS user_id,
  ['disk full', 'login failed'][1 + i // getvariable('users')] AS topic,
  80000 * uniform(i, 'begins') AS begins,
  3 + exponential(i, 'asked', 7)::BIGINT AS asked
FROM range(2 * getvariable('users')) AS r(i);

CREATE TEMP TABLE requests AS
SELECT
  request_id,
  user_id,
  topic,
  requested_at,
  -- A service that restarts sends what it had noticed minutes later.
  arrives(request_id, delayed(request_id, requested_at, 0.03, 300)) AS _arrivals
FROM (
  SELECT row_number() OVER (ORDER BY after_midnight, user_id, topic, n) AS request_id, *,
    TIMESTAMPTZ '2026-03-02 00:00:00Z' + seconds(after_midnight) AS requested_at
  FROM (
    SELECT user_id, topic, n,
      begins + sum(
        -- The first request has no predecessor; of one incident in ten two services ask at once.
        CASE WHEN n = 0 OR (n = 1 AND pick(i, 'at once', 10) = 0) THEN 0
          ELSE 15 + 225 * uniform(i * 1000 + n, 'pause') END
      ) OVER (PARTITION BY i ORDER BY n) AS after_midnight
    FROM incident, range(asked) AS r(n)
  )
);
