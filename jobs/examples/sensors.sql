-- Four hours of sensors that report once a minute, and a gateway that speaks every ten seconds. The
-- roof has no power from 10:00 to 10:40. Device 7 dies at 11:00. Device 8 is dismounted at 11:00, and
-- taken off the list half an hour later. The last two devices of the list never report.
SET VARIABLE devices = at_size(60, 20000);
CREATE TEMP MACRO at_second(after_eight) AS
  TIMESTAMPTZ '2026-03-02 08:00:00Z' + seconds(after_eight::DOUBLE);
CREATE TEMP MACRO device(i) AS printf('d%05d', i);
CREATE TEMP MACRO room(i) AS CASE WHEN i % 10 = 0 THEN 'roof' ELSE one_of(i, 'room', ['hall', 'lab', 'yard']) END;

CREATE TEMP TABLE devices AS
SELECT device(i) AS device, room(i) AS room, false AS deleted, [at_second(i / 1000)] AS _arrivals
FROM range(getvariable('devices')) AS r(i)
UNION ALL
SELECT device(8), NULL, true, [at_second(3.5 * 3600)];

CREATE TEMP TABLE readings AS
SELECT device, temperature, ts, arrives(number, delayed(number, ts, 0.02, 60)) AS _arrivals
FROM (
  SELECT
    i * 1000 + m AS number,
    device(i) AS device,
    round(normal(i * 1000 + m, 'temperature', CASE WHEN room(i) = 'roof' THEN 3 ELSE 20 END, 0.5), 1) AS temperature,
    at_second(60 * m + 60 * uniform(i, 'phase')) AS ts
  FROM range(getvariable('devices') - 2) AS d(i), range(240) AS r(m)
  WHERE NOT (room(i) = 'roof' AND m BETWEEN 120 AND 159)
    AND NOT (i IN (7, 8) AND m >= 180)
  UNION ALL
  SELECT -1 - n, 'gateway', NULL, at_second(10 * n) FROM range(1440) AS g(n)
);
