---
CREATE STREAMING VEIW v AS SELECT 1
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE STREAMING is not a statement
--   CREATE STREAMING VEIW v AS SELECT 1
--          ^^^^^^^^^
--   hint: did you mean CREATE STREAMING VIEW?

---
CREATE STREAMNG VIEW v AS SELECT 1
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE STREAMNG is not a statement
--   CREATE STREAMNG VIEW v AS SELECT 1
--          ^^^^^^^^
--   hint: did you mean CREATE STREAMING VIEW?

---
CREATE VIEW v AS SELECT 1
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE VIEW is not a statement
--   CREATE VIEW v AS SELECT 1
--          ^^^^
--   hint: write CREATE STREAMING VIEW

---
CREATE MATERIALIZED VIEW v AS SELECT 1
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE MATERIALIZED is not a statement
--   CREATE MATERIALIZED VIEW v AS SELECT 1
--          ^^^^^^^^^^^^
--   hint: write CREATE STREAMING VIEW

---
CREATE STREAMING TABLE v AS SELECT 1
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE STREAMING is not a statement
--   CREATE STREAMING TABLE v AS SELECT 1
--          ^^^^^^^^^
--   hint: write CREATE STREAMING VIEW

---
CREATE TABLE v AS SELECT 1
--- fails
-- view.sql:1:16 MISPLACED_CLAUSE — AS does not belong here
--   CREATE TABLE v AS SELECT 1
--                  ^^
--   hint: a table of the lake that follows a query is a CREATE STREAMING VIEW … AS

---
CREATE TABLE v (a BIGINT) AS SELECT 1
--- fails
-- view.sql:1:27 MISPLACED_CLAUSE — AS does not belong here
--   CREATE TABLE v (a BIGINT) AS SELECT 1
--                             ^^
--   hint: a table of the lake that follows a query is a CREATE STREAMING VIEW … AS

---
CREATE SORCE v (a BIGINT)
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE SORCE is not a statement
--   CREATE SORCE v (a BIGINT)
--          ^^^^^
--   hint: did you mean CREATE SOURCE?

---
CREATE
--- fails
-- view.sql:1:7 UNKNOWN_STATEMENT — CREATE is not a statement
--   CREATE
--         ^
--   hint: CREATE what? One of SOURCE, TABLE, STREAMING VIEW, SINK, FUNCTION

---
CREATE INDEX i ON t (a)
--- fails
-- view.sql:1:8 UNKNOWN_STATEMENT — CREATE INDEX is not a statement
--   CREATE INDEX i ON t (a)
--          ^^^^^
--   hint: CREATE what? One of SOURCE, TABLE, STREAMING VIEW, SINK, FUNCTION

---
INSERT INTO t VALUES (1)
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — INSERT is not a statement here
--   INSERT INTO t VALUES (1)
--   ^^^^^^
--   hint: rows come from sources; describe the result with CREATE STREAMING VIEW … AS

---
SET x = 1
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — SET is not a statement here
--   SET x = 1
--   ^^^
--   hint: settings belong into headwater.toml

---
ADD JAR 'x.jar'
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — ADD is not a statement here
--   ADD JAR 'x.jar'
--   ^^^
--   hint: a file holds CREATE and DROP statements and queries

---
EXPLAIN SELECT 1
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — EXPLAIN is not a statement here
--   EXPLAIN SELECT 1
--   ^^^^^^^
--   hint: use headwater explain VIEW

---
SHOW TABLES
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — SHOW is not a statement here
--   SHOW TABLES
--   ^^^^
--   hint: a file holds CREATE and DROP statements and queries

---
DELETE FROM t
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — DELETE is not a statement here
--   DELETE FROM t
--   ^^^^^^
--   hint: describe the result with CREATE STREAMING VIEW … AS

---
UPDATE t SET a = 1
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — UPDATE is not a statement here
--   UPDATE t SET a = 1
--   ^^^^^^
--   hint: describe the result with CREATE STREAMING VIEW … AS

---
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — MERGE is not a statement here
--   MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE
--   ^^^^^
--   hint: describe the result with CREATE STREAMING VIEW … AS

---
GRANT SELECT ON t TO u
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — GRANT is not a statement here
--   GRANT SELECT ON t TO u
--   ^^^^^
--   hint: a file holds CREATE and DROP statements and queries

---
CALL f()
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — CALL is not a statement here
--   CALL f()
--   ^^^^
--   hint: a file holds CREATE and DROP statements and queries

---
EXECUTE IMMEDIATE 'x'
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — EXECUTE is not a statement here
--   EXECUTE IMMEDIATE 'x'
--   ^^^^^^^
--   hint: a file holds CREATE and DROP statements and queries

---
COMMENT ON TABLE t IS 'x'
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — COMMENT is not a statement here
--   COMMENT ON TABLE t IS 'x'
--   ^^^^^^^
--   hint: a file holds CREATE and DROP statements and queries

---
SELCT 1
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — SELCT is not a statement here
--   SELCT 1
--   ^^^^^
--   hint: did you mean SELECT?

---
1 + 1
--- fails
-- view.sql:1:1 SYNTAX_ERROR — syntax error at or near "1"
--   1 + 1
--   ^
--   hint: a statement starts with CREATE, DROP, SELECT or WITH

---
'x'
--- fails
-- view.sql:1:1 SYNTAX_ERROR — syntax error at or near "x"
--   'x'
--   ^^^
--   hint: a statement starts with CREATE, DROP, SELECT or WITH

---
)
--- fails
-- view.sql:1:1 SYNTAX_ERROR — syntax error at or near ")"
--   )
--   ^
--   hint: remove this ): it closes nothing, or a ( is missing before it

---
DROP v
--- fails
-- view.sql:1:6 SYNTAX_ERROR — syntax error at or near "v"
--   DROP v
--        ^
--   hint: DROP is one of SOURCE, TABLE, STREAMING VIEW, VIEW, SINK, FUNCTION

---
DROP SOURCE
--- fails
-- view.sql:1:12 SYNTAX_ERROR — syntax error at the end of the statement
--   DROP SOURCE
--              ^
--   hint: expected the name of the source here

---
DROP SOURCES x
--- fails
-- view.sql:1:6 SYNTAX_ERROR — syntax error at or near "SOURCES"
--   DROP SOURCES x
--        ^^^^^^^
--   hint: did you mean SOURCE?

---
DROP TABLE IF EXIST x
--- fails
-- view.sql:1:12 SYNTAX_ERROR — syntax error at or near "IF"
--   DROP TABLE IF EXIST x
--              ^^
--   hint: expected IF EXISTS here

---
DROP TABLE x CASCADE
--- fails
-- view.sql:1:14 SYNTAX_ERROR — syntax error at or near "CASCADE"
--   DROP TABLE x CASCADE
--                ^^^^^^^

---
CREATE SINK s WITH (connector = 'kafka')
--- fails
-- view.sql:1:15 SYNTAX_ERROR — syntax error at or near "WITH"
--   CREATE SINK s WITH (connector = 'kafka')
--                 ^^^^
--   hint: write CREATE SINK name FROM view WITH (connector = …)

---
CREATE SINK s FROM
--- fails
-- view.sql:1:19 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE SINK s FROM
--                     ^
--   hint: expected the name of a view here

---
CREATE FUNCTION f(a BIGINT) RETURNS BIGINT AS $$x$$
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at or near "AS"
--   CREATE FUNCTION f(a BIGINT) RETURNS BIGINT AS $$x$$
--                                              ^^
--   hint: expected LANGUAGE before this, or RETURN and an expression

---
CREATE FUNCTION f(a BIGINT) RETURNS BIGINT LANGUAGE JAVA AS 'x'
--- fails
-- view.sql:1:53 SYNTAX_ERROR — syntax error at or near "JAVA"
--   CREATE FUNCTION f(a BIGINT) RETURNS BIGINT LANGUAGE JAVA AS 'x'
--                                                       ^^^^
--   hint: LANGUAGE is one of PYTHON, SQL
