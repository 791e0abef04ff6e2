-- The words of a text, each once, in lower case.
CREATE FUNCTION words_of(body VARCHAR) RETURNS ARRAY(VARCHAR)
RETURN array_distinct(filter(regexp_split(lower(body), '[^a-z0-9äöüß]+'), word -> word <> ''));
