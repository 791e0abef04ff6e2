-- dialect: duckdb
-- The source files of TPC-DI: those of the historical load in Batch1, of the changes in the others.

CREATE TABLE batch_date (
  batch_date DATE, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'BatchDate.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE date_file (
  sk_date_id BIGINT, date_value DATE, date_desc VARCHAR, calendar_year_id INTEGER,
  calendar_qtr_id INTEGER, calendar_month_id INTEGER, day_of_week_num INTEGER,
  day_of_week_desc VARCHAR, fiscal_year_id INTEGER, fiscal_qtr_id INTEGER, holiday_flag BOOLEAN
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'Date.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE time_file (
  sk_time_id INTEGER, time_value VARCHAR, hour_id INTEGER, minute_id INTEGER, second_id INTEGER,
  market_hours_flag BOOLEAN, office_hours_flag BOOLEAN
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'Time.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE status_type_file (st_id VARCHAR, st_name VARCHAR)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'StatusType.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE tax_rate_file (tx_id VARCHAR, tx_name VARCHAR, tx_rate DECIMAL(6, 5))
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'TaxRate.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE industry_file (in_id VARCHAR, in_name VARCHAR, in_sc_id VARCHAR)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'Industry.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE trade_type_file (tt_id VARCHAR, tt_name VARCHAR, tt_is_sell INTEGER, tt_is_mrkt INTEGER)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'TradeType.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE hr (
  employee_id BIGINT, manager_id BIGINT, first_name VARCHAR, last_name VARCHAR,
  middle_initial VARCHAR, job_code INTEGER, branch VARCHAR, office VARCHAR, phone VARCHAR
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'HR.csv')
FORMAT PLAIN ENCODE CSV (header = false, null_value = '');

CREATE TABLE prospect_file (
  agency_id VARCHAR, last_name VARCHAR, first_name VARCHAR, middle_initial VARCHAR, gender VARCHAR,
  address_line1 VARCHAR, address_line2 VARCHAR, postal_code VARCHAR, city VARCHAR, state VARCHAR,
  country VARCHAR, phone VARCHAR, income BIGINT, number_cars INTEGER, number_children INTEGER,
  marital_status VARCHAR, age INTEGER, credit_rating INTEGER, own_or_rent_flag VARCHAR,
  employer VARCHAR, number_credit_cards INTEGER, net_worth BIGINT, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'Prospect.csv')
FORMAT PLAIN ENCODE CSV (header = false, null_value = '');

-- A record of FINWIRE has fixed widths; no separator occurs in it.
CREATE TABLE finwire (
  line VARCHAR, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'FINWIRE*')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

-- An action of CustomerMgmt.xml is one line. What it leaves as it was is empty.
CREATE TABLE customer_mgmt (
  action_type VARCHAR, action_ts TIMESTAMP, c_id BIGINT, c_tax_id VARCHAR, c_l_name VARCHAR,
  c_f_name VARCHAR, c_m_name VARCHAR, c_gndr VARCHAR, c_tier INTEGER, c_dob DATE,
  c_adline1 VARCHAR, c_adline2 VARCHAR, c_zipcode VARCHAR, c_city VARCHAR, c_state_prov VARCHAR,
  c_ctry VARCHAR, c_ctry_1 VARCHAR, c_area_1 VARCHAR, c_local_1 VARCHAR, c_ext_1 VARCHAR,
  c_ctry_2 VARCHAR, c_area_2 VARCHAR, c_local_2 VARCHAR, c_ext_2 VARCHAR, c_ctry_3 VARCHAR,
  c_area_3 VARCHAR, c_local_3 VARCHAR, c_ext_3 VARCHAR, c_email_1 VARCHAR, c_email_2 VARCHAR,
  c_lcl_tx_id VARCHAR, c_nat_tx_id VARCHAR, ca_id BIGINT, ca_b_id BIGINT, ca_name VARCHAR,
  ca_tax_st INTEGER
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'CustomerMgmt.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE customer_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, c_id BIGINT, c_tax_id VARCHAR, c_st_id VARCHAR,
  c_l_name VARCHAR, c_f_name VARCHAR, c_m_name VARCHAR, c_gndr VARCHAR, c_tier INTEGER, c_dob DATE,
  c_adline1 VARCHAR, c_adline2 VARCHAR, c_zipcode VARCHAR, c_city VARCHAR, c_state_prov VARCHAR,
  c_ctry VARCHAR, c_ctry_1 VARCHAR, c_area_1 VARCHAR, c_local_1 VARCHAR, c_ext_1 VARCHAR,
  c_ctry_2 VARCHAR, c_area_2 VARCHAR, c_local_2 VARCHAR, c_ext_2 VARCHAR, c_ctry_3 VARCHAR,
  c_area_3 VARCHAR, c_local_3 VARCHAR, c_ext_3 VARCHAR, c_email_1 VARCHAR, c_email_2 VARCHAR,
  c_lcl_tx_id VARCHAR, c_nat_tx_id VARCHAR, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'Customer.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE account_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, ca_id BIGINT, ca_b_id BIGINT, ca_c_id BIGINT, ca_name VARCHAR,
  ca_tax_st INTEGER, ca_st_id VARCHAR, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'Account.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE trade_file (
  t_id BIGINT, t_dts TIMESTAMP, t_st_id VARCHAR, t_tt_id VARCHAR, t_is_cash INTEGER,
  t_s_symb VARCHAR, t_qty INTEGER, t_bid_price DECIMAL(8, 2), t_ca_id BIGINT, t_exec_name VARCHAR,
  t_trade_price DECIMAL(8, 2), t_chrg DECIMAL(10, 2), t_comm DECIMAL(10, 2), t_tax DECIMAL(10, 2)
)
WITH (connector = 'files', path = 'data/Batch1', pattern = 'Trade.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE trade_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, t_id BIGINT, t_dts TIMESTAMP, t_st_id VARCHAR, t_tt_id VARCHAR,
  t_is_cash INTEGER, t_s_symb VARCHAR, t_qty INTEGER, t_bid_price DECIMAL(8, 2), t_ca_id BIGINT,
  t_exec_name VARCHAR, t_trade_price DECIMAL(8, 2), t_chrg DECIMAL(10, 2), t_comm DECIMAL(10, 2),
  t_tax DECIMAL(10, 2), file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data/changes', recursive = true, pattern = 'Trade.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE trade_history_file (th_t_id BIGINT, th_dts TIMESTAMP, th_st_id VARCHAR)
WITH (connector = 'files', path = 'data', recursive = true, pattern = 'TradeHistory.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE cash_transaction_file (
  ct_ca_id BIGINT, ct_dts TIMESTAMP, ct_amt DECIMAL(10, 2), ct_name VARCHAR
)
WITH (connector = 'files', path = 'data/Batch1', pattern = 'CashTransaction.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE cash_transaction_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, ct_ca_id BIGINT, ct_dts TIMESTAMP, ct_amt DECIMAL(10, 2),
  ct_name VARCHAR, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data/changes', recursive = true, pattern = 'CashTransaction.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE holding_history_file (
  hh_h_t_id BIGINT, hh_t_id BIGINT, hh_before_qty INTEGER, hh_after_qty INTEGER
)
WITH (connector = 'files', path = 'data/Batch1', pattern = 'HoldingHistory.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE holding_history_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, hh_h_t_id BIGINT, hh_t_id BIGINT, hh_before_qty INTEGER,
  hh_after_qty INTEGER, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data/changes', recursive = true, pattern = 'HoldingHistory.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE watch_history_file (w_c_id BIGINT, w_s_symb VARCHAR, w_dts TIMESTAMP, w_action VARCHAR)
WITH (connector = 'files', path = 'data/Batch1', pattern = 'WatchHistory.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE watch_history_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, w_c_id BIGINT, w_s_symb VARCHAR, w_dts TIMESTAMP,
  w_action VARCHAR, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data/changes', recursive = true, pattern = 'WatchHistory.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE daily_market_file (
  dm_date DATE, dm_s_symb VARCHAR, dm_close DECIMAL(8, 2), dm_high DECIMAL(8, 2),
  dm_low DECIMAL(8, 2), dm_vol BIGINT
)
WITH (connector = 'files', path = 'data/Batch1', pattern = 'DailyMarket.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');

CREATE TABLE daily_market_cdc (
  cdc_flag VARCHAR, cdc_dsn BIGINT, dm_date DATE, dm_s_symb VARCHAR, dm_close DECIMAL(8, 2),
  dm_high DECIMAL(8, 2), dm_low DECIMAL(8, 2), dm_vol BIGINT, file VARCHAR METADATA FROM 'file',
  batch_id AS TRY_CAST(regexp_extract(file, 'Batch([0-9]+)', 1) AS INTEGER)
)
WITH (connector = 'files', path = 'data/changes', recursive = true, pattern = 'DailyMarket.txt')
FORMAT PLAIN ENCODE CSV (header = false, delimiter = '|', null_value = '');
