-- The inverted index: an article under each of its words.
CREATE STREAMING VIEW article_words
COMMENT 'Each article once under each of its words'
AS
SELECT a.article_id, a.section, a.published_at, a.words, w.word
FROM (
  SELECT DISTINCT article_id, section, published_at, words_of(body) AS words FROM articles
) AS a
CROSS JOIN UNNEST(array_distinct(a.words)) AS w (word);

-- A search is looked up by its first word, so an article meets only searches that begin with a word
-- of it. The remaining conditions decide row by row.
CREATE STREAMING VIEW matches
COMMENT 'Which article matches which search, for the searches as they are now'
AS
SELECT s.search_id, s.reader, a.article_id, a.section, a.published_at
FROM searches AS s
JOIN article_words AS a ON a.word = element_at(s.words, 1)
WHERE a.published_at >= s.since
  AND cardinality(array_except(s.words, a.words)) = 0
  AND NOT coalesce(arrays_overlap(s.without, a.words), false);
