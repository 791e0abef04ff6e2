-- The lease of each project: only the process that holds it writes the project's tables.
--
-- Headwater's user creates the table at the first run if it may. Run this file only if it may not:
--   psql --dbname lake --file catalog/postgres/lease.sql
-- Running it again changes nothing.
CREATE TABLE IF NOT EXISTS headwater_lease (
  namespace VARCHAR(255) PRIMARY KEY,
  token BIGINT NOT NULL,
  renewals BIGINT,
  owner TEXT
);

COMMENT ON TABLE headwater_lease IS 'Which process runs the project of each namespace';
COMMENT ON COLUMN headwater_lease.token IS 'rises with each owner; commits with an older one fail';
COMMENT ON COLUMN headwater_lease.renewals IS 'signs of life of the owner';
COMMENT ON COLUMN headwater_lease.owner IS 'host and process as JSON; NULL when nobody runs it';
