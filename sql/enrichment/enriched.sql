CREATE STREAMING VIEW events_once
COMMENT 'Each event once, final; events that come too late are in late_events'
LATE ROWS DROP INTO late_events
AS
SELECT DISTINCT event_id, user_id, megabytes, happened_at
FROM events
EMIT ON WINDOW CLOSE;

-- The profile that held at the moment of the event, and no newer one. A row waits until no earlier
-- change can come, and is final.
CREATE STREAMING VIEW enriched
COMMENT 'Events with the plan and country of their user at that time'
AS
SELECT e.event_id, e.user_id, e.megabytes, e.happened_at, p.plan, p.country
FROM events_once AS e
LEFT JOIN profiles FOR SYSTEM_TIME AS OF e.happened_at AS p ON p.user_id = e.user_id
EMIT ON WINDOW CLOSE;
