CREATE STREAMING VIEW hits (newest COMMENT 'time of the newest matching article')
COMMENT 'Matching articles per search; 0 for a search without any'
AS
SELECT s.search_id, s.reader, array_join(s.words, ' ') AS words,
  count(m.article_id) AS articles, max(m.published_at) AS newest
FROM searches AS s LEFT JOIN matches AS m ON m.search_id = s.search_id
GROUP BY s.search_id, s.reader, array_join(s.words, ' ');
