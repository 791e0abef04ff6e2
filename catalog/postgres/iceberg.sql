-- The two tables of Iceberg's JDBC catalog, schema version V1.
--
-- Headwater's user creates them at the first run if it may. Run this file only if it may not:
--   psql --dbname lake --file catalog/postgres/iceberg.sql
-- Running it again changes nothing.
CREATE TABLE IF NOT EXISTS iceberg_tables (
  catalog_name VARCHAR(255) NOT NULL,
  table_namespace VARCHAR(255) NOT NULL,
  table_name VARCHAR(255) NOT NULL,
  metadata_location VARCHAR(1000),
  previous_metadata_location VARCHAR(1000),
  iceberg_type VARCHAR(5),
  PRIMARY KEY (catalog_name, table_namespace, table_name)
);

CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
  catalog_name VARCHAR(255) NOT NULL,
  namespace VARCHAR(255) NOT NULL,
  property_key VARCHAR(255),
  property_value VARCHAR(1000),
  PRIMARY KEY (catalog_name, namespace, property_key)
);

COMMENT ON TABLE iceberg_tables IS 'Tables and views of Iceberg and their newest metadata';
COMMENT ON TABLE iceberg_namespace_properties IS 'Namespaces of Iceberg and their properties';
