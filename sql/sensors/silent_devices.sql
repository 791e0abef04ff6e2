CREATE STREAMING VIEW last_seen
COMMENT 'The newest reading of each device'
AS
SELECT device, max(ts) AS last_seen
FROM readings
GROUP BY device;

-- watermark() is the present in event time: how far the readings have come. A device enters this view
-- when the watermark is five minutes past its last reading, and leaves it with the next one. A late
-- reading that is young enough counts as a sign of life.
CREATE STREAMING VIEW silent_devices (last_seen COMMENT 'NULL if the device never reported')
COMMENT 'Devices without a reading in the last five minutes'
AS
SELECT d.device, d.room, l.last_seen
FROM devices AS d
LEFT JOIN last_seen AS l ON l.device = d.device
WHERE l.last_seen IS NULL OR l.last_seen < watermark() - INTERVAL '5' MINUTE;
