-- The first one: a request that is delivered twice is one request.
CREATE STREAMING VIEW requested
COMMENT 'Each request once, final'
LATE ROWS DROP INTO late_requests
AS
SELECT DISTINCT request_id, user_id, topic, requested_at
FROM requests
EMIT ON WINDOW CLOSE;
