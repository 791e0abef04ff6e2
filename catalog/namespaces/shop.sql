-- Namespace "shop": CREATE SCHEMA, comment and grants, for a catalog in PostgreSQL.
--
-- Run it in the catalog's database, as the owner of the tables of postgres/*.sql:
--   psql --dbname lake --file catalog/namespaces/shop.sql
-- Running it again changes nothing. These grants are about names of tables; the files of the tables
-- need grants of their own, in the object store or the file system.

-- What Iceberg writes for CREATE SCHEMA lake.shop COMMENT '…'.
INSERT INTO iceberg_namespace_properties VALUES
  ('lake', 'shop', 'exists', 'true'),
  ('lake', 'shop', 'comment', 'A shop in PostgreSQL, whose changes Debezium writes to Kafka')
ON CONFLICT (catalog_name, namespace, property_key)
DO UPDATE SET property_value = excluded.property_value;

DO $$ BEGIN CREATE ROLE shop_reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
DO $$ BEGIN CREATE ROLE shop_writer; EXCEPTION WHEN duplicate_object THEN NULL; END $$;

-- Readers: Trino, `headwater sql`, `verify`, `status`. Writers: `headwater run`, `maintain`.
-- GRANT shop_reader TO a_user_who_may_log_in;
GRANT SELECT ON iceberg_tables, iceberg_namespace_properties, headwater_lease TO shop_reader;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON iceberg_tables, iceberg_namespace_properties, headwater_lease TO shop_writer;

-- Both roles see only the tables and the lease of this namespace.
ALTER TABLE iceberg_tables ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS shop ON iceberg_tables;
CREATE POLICY shop ON iceberg_tables TO shop_reader, shop_writer
  USING (table_namespace = 'shop');

ALTER TABLE headwater_lease ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS shop ON headwater_lease;
CREATE POLICY shop ON headwater_lease TO shop_reader, shop_writer
  USING (namespace = 'shop');
