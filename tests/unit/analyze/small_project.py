"""Binding small projects in tests."""

from headwater.analyze.definitions import Catalog, View
from headwater.analyze.project import bind
from headwater.dialect import parse, to_sql

SOURCES = """
CREATE TABLE departures (
  flight VARCHAR NOT NULL, origin VARCHAR, dest VARCHAR, distance BIGINT, dep_delay DOUBLE,
  price DECIMAL(10, 2), tags ARRAY(VARCHAR), plane ROW(tail VARCHAR, seats INTEGER),
  ts TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (connector = 'files', path = 'departures') FORMAT PLAIN ENCODE JSON;
CREATE TABLE landings (
  flight VARCHAR NOT NULL, arr_delay DOUBLE, ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '1' HOUR
) WITH (connector = 'files', path = 'landings') FORMAT PLAIN ENCODE JSON;
CREATE TABLE airports (code VARCHAR NOT NULL, city VARCHAR, opened TIMESTAMP, day DATE)
WITH (connector = 'files', path = 'airports') FORMAT PLAIN ENCODE CSV (header = true);
CREATE SOURCE clicks (
  page VARCHAR, at TIMESTAMP, WATERMARK FOR at AS at
) WITH (connector = 'datagen');
"""


def catalog(sql: str = "") -> Catalog:
    return bind({"project.sql": parse(f"{SOURCES};{sql}", file="project.sql")})


def view(query: str, emit: str = "", head: str = "") -> View:
    return catalog(f"CREATE STREAMING VIEW v {head} AS {query} {emit}").views["v"]


def bound(query: str) -> str:
    return to_sql(view(query).query, pretty=False)
