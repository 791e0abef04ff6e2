-- Namespace "flights": CREATE SCHEMA, comment and grants, for a catalog in PostgreSQL.
--
-- Run it in the catalog's database, as the owner of the tables of postgres/*.sql:
--   psql --dbname lake --file catalog/namespaces/flights.sql
-- Running it again changes nothing. These grants are about names of tables; the files of the tables
-- need grants of their own, in the object store or the file system.

-- What Iceberg writes for CREATE SCHEMA lake.flights COMMENT '…'.
INSERT INTO iceberg_namespace_properties VALUES
  ('lake', 'flights', 'exists', 'true'),
  ('lake', 'flights', 'comment', 'Flights that left New York in 2013')
ON CONFLICT (catalog_name, namespace, property_key)
DO UPDATE SET property_value = excluded.property_value;

DO $$ BEGIN CREATE ROLE flights_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE flights_writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$;

-- Readers: Trino, `headwater sql`, `verify`, `status`. Writers: `headwater run`, `maintain`.
-- GRANT flights_reader TO a_user_who_may_log_in;
GRANT SELECT ON iceberg_tables, iceberg_namespace_properties, headwater_lease TO flights_reader;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON iceberg_tables, iceberg_namespace_properties, headwater_lease TO flights_writer;

-- Both roles see only the tables and the lease of this namespace.
ALTER TABLE iceberg_tables ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS flights ON iceberg_tables;
CREATE POLICY flights ON iceberg_tables TO flights_reader, flights_writer
  USING (table_namespace = 'flights');

ALTER TABLE headwater_lease ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS flights ON headwater_lease;
CREATE POLICY flights ON headwater_lease TO flights_reader, flights_writer
  USING (namespace = 'flights');
