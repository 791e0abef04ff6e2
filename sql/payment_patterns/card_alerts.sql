-- One list for those who call the holders: a standing alert is a view, and a sink delivers it.
CREATE STREAMING VIEW card_alerts (amount COMMENT 'USD that was taken')
COMMENT 'Both patterns, one row per alert'
AS
SELECT card, london_at AS seen_at, 'New York, then London' AS pattern, amount FROM two_places
UNION ALL
SELECT card, ended_at, 'three failures', coalesce(taken, 0) FROM guesses;
