-- An hour is counted once it is over, and never again; what comes later is in late_articles.
CREATE STREAMING VIEW articles_per_hour
COMMENT 'Articles per section and hour, final'
LATE ROWS DROP INTO late_articles
AS
SELECT section, date_trunc('hour', published_at) AS hour, count(*) AS articles
FROM (SELECT DISTINCT article_id, section, published_at FROM articles) AS a
GROUP BY section, date_trunc('hour', published_at)
EMIT ON WINDOW CLOSE;
