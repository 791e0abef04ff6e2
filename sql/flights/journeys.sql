-- A landing is matched with its departure within a day; planes up to a day late still count.
CREATE STREAMING VIEW journeys
COMMENT 'Departures joined with their landings'
LATE ROWS ACCEPT FOR INTERVAL '24' HOUR
AS
SELECT
  d.flight_id,
  d.carrier,
  d.origin,
  d.dest,
  d.scheduled AS scheduled_departure,
  l.scheduled AS scheduled_landing,
  d.delay AS departure_delay,
  l.delay AS landing_delay,
  l.air_time
FROM departures AS d
JOIN landings AS l
  ON l.flight_id = d.flight_id
  AND l.scheduled BETWEEN d.scheduled AND d.scheduled + INTERVAL '24' HOUR;
