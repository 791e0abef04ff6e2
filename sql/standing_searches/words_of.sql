-- The words of a text in lower case.
CREATE FUNCTION words_of(body VARCHAR) RETURNS ARRAY(VARCHAR)
RETURN filter(regexp_split(lower(body), '[^a-z0-9äöüß]+'), word -> word <> '');
