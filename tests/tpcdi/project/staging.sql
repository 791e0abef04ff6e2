-- dialect: duckdb
-- What the transformations have in common: functions, both kinds of files of one source, versions.

CREATE FUNCTION date_key(d DATE) RETURNS BIGINT
RETURN CAST(year(d) * 10000 + month(d) * 100 + day(d) AS BIGINT);

CREATE FUNCTION version_key(id BIGINT, since DATE) RETURNS BIGINT
RETURN id * 100000000 + date_key(since);

CREATE FUNCTION phone(ctry VARCHAR, area VARCHAR, local VARCHAR, ext VARCHAR) RETURNS VARCHAR
RETURN CASE
  WHEN local IS NULL THEN NULL
  WHEN area IS NULL THEN local || coalesce(ext, '')
  WHEN ctry IS NULL THEN '(' || area || ') ' || local || coalesce(ext, '')
  ELSE '+' || ctry || ' (' || area || ') ' || local || coalesce(ext, '')
END;

CREATE FUNCTION person_key(
  l_name VARCHAR, f_name VARCHAR, line1 VARCHAR, line2 VARCHAR, postal VARCHAR
) RETURNS VARCHAR
RETURN upper(
  l_name || '|' || f_name || '|' || line1 || '|' || coalesce(line2, '') || '|' || postal
);

CREATE FUNCTION nameplate(
  worth BIGINT, earned BIGINT, children INTEGER, cards INTEGER, cars INTEGER, years INTEGER,
  rating INTEGER
) RETURNS VARCHAR
RETURN nullif(concat_ws('+',
  CASE WHEN worth > 1000000 OR earned > 200000 THEN 'HighValue' END,
  CASE WHEN children > 3 OR cards > 5 THEN 'Expenses' END,
  CASE WHEN years > 45 THEN 'Boomer' END,
  CASE WHEN earned < 50000 OR rating < 600 OR worth < 100000 THEN 'MoneyAlert' END,
  CASE WHEN cars > 3 OR cards > 7 THEN 'Spender' END,
  CASE WHEN years < 25 AND worth > 1000000 THEN 'Inherited' END
), '');

CREATE FUNCTION words(line VARCHAR, since BIGINT, size BIGINT) RETURNS VARCHAR
RETURN nullif(trim(substr(line, since, size)), '');

CREATE FUNCTION day_of(line VARCHAR, since BIGINT) RETURNS DATE
RETURN TRY_CAST(
  substr(line, since, 4) || '-' || substr(line, since + 4, 2) || '-' || substr(line, since + 6, 2)
  AS DATE
);

-- FINWIRE: three kinds of records. A company is named by its CIK of ten digits or by its name.

CREATE STREAMING VIEW finwire_company AS
SELECT
  TRY_CAST(words(line, 79, 10) AS BIGINT) AS cik, day_of(line, 1) AS posted_on, batch_id,
  words(line, 19, 60) AS name, words(line, 89, 4) AS status, words(line, 93, 2) AS industry_id,
  words(line, 95, 4) AS sp_rating, day_of(line, 99) AS founding_date,
  words(line, 107, 80) AS address_line1, words(line, 187, 80) AS address_line2,
  words(line, 267, 12) AS postal_code, words(line, 279, 25) AS city,
  words(line, 304, 20) AS state_prov, words(line, 324, 24) AS country,
  words(line, 348, 46) AS ceo, words(line, 394, 150) AS description
FROM finwire
WHERE substr(line, 16, 3) = 'CMP';

CREATE STREAMING VIEW finwire_security AS
SELECT
  words(line, 19, 15) AS symbol, day_of(line, 1) AS posted_on, batch_id,
  words(line, 34, 6) AS issue, words(line, 40, 4) AS status, words(line, 44, 70) AS name,
  words(line, 114, 6) AS exchange_id,
  TRY_CAST(words(line, 120, 13) AS BIGINT) AS shares_outstanding,
  day_of(line, 133) AS first_trade, day_of(line, 141) AS first_trade_on_exchange,
  TRY_CAST(words(line, 149, 12) AS DECIMAL(12, 2)) AS dividend,
  words(line, 161, 60) AS company
FROM finwire
WHERE substr(line, 16, 3) = 'SEC';

CREATE STREAMING VIEW finwire_financial AS
SELECT
  day_of(line, 1) AS posted_on, TRY_CAST(words(line, 19, 4) AS INTEGER) AS fi_year,
  TRY_CAST(words(line, 23, 1) AS INTEGER) AS fi_qtr, day_of(line, 24) AS fi_qtr_start_date,
  TRY_CAST(words(line, 40, 17) AS DECIMAL(17, 2)) AS fi_revenue,
  TRY_CAST(words(line, 57, 17) AS DECIMAL(17, 2)) AS fi_net_earn,
  TRY_CAST(words(line, 74, 12) AS DECIMAL(12, 2)) AS fi_basic_eps,
  TRY_CAST(words(line, 86, 12) AS DECIMAL(12, 2)) AS fi_dilut_eps,
  TRY_CAST(words(line, 98, 12) AS DECIMAL(12, 2)) AS fi_margin,
  TRY_CAST(words(line, 110, 17) AS DECIMAL(17, 2)) AS fi_inventory,
  TRY_CAST(words(line, 127, 17) AS DECIMAL(17, 2)) AS fi_assets,
  TRY_CAST(words(line, 144, 17) AS DECIMAL(17, 2)) AS fi_liability,
  TRY_CAST(words(line, 161, 13) AS BIGINT) AS fi_out_basic,
  TRY_CAST(words(line, 174, 13) AS BIGINT) AS fi_out_dilut,
  words(line, 187, 60) AS company
FROM finwire
WHERE substr(line, 16, 3) = 'FIN';

-- Customers: an action of the history tells what changed, a change of a batch tells the whole row.

CREATE STREAMING VIEW customer_changes AS
SELECT
  c_id AS customer_id, action_ts AS changed_at, 1 AS batch_id,
  CASE action_type WHEN 'INACT' THEN 'INAC' ELSE 'ACTV' END AS status,
  c_tax_id AS tax_id, c_l_name AS last_name, c_f_name AS first_name, c_m_name AS middle_initial,
  c_gndr AS gender, c_tier AS tier, c_dob AS dob, c_adline1 AS address_line1,
  c_adline2 AS address_line2, c_zipcode AS postal_code, c_city AS city,
  c_state_prov AS state_prov, c_ctry AS country,
  phone(c_ctry_1, c_area_1, c_local_1, c_ext_1) AS phone1,
  phone(c_ctry_2, c_area_2, c_local_2, c_ext_2) AS phone2,
  phone(c_ctry_3, c_area_3, c_local_3, c_ext_3) AS phone3,
  c_email_1 AS email1, c_email_2 AS email2, c_lcl_tx_id AS lcl_tx_id, c_nat_tx_id AS nat_tx_id
FROM customer_mgmt
WHERE action_type IN ('NEW', 'UPDCUST', 'INACT')
UNION ALL
SELECT
  c.c_id, CAST(b.batch_date AS TIMESTAMP), c.batch_id, c.c_st_id, c.c_tax_id, c.c_l_name,
  c.c_f_name, c.c_m_name, c.c_gndr, c.c_tier, c.c_dob, c.c_adline1, c.c_adline2, c.c_zipcode,
  c.c_city, c.c_state_prov, c.c_ctry, phone(c.c_ctry_1, c.c_area_1, c.c_local_1, c.c_ext_1),
  phone(c.c_ctry_2, c.c_area_2, c.c_local_2, c.c_ext_2),
  phone(c.c_ctry_3, c.c_area_3, c.c_local_3, c.c_ext_3), c.c_email_1, c.c_email_2,
  c.c_lcl_tx_id, c.c_nat_tx_id
FROM customer_cdc AS c
JOIN batch_date AS b ON b.batch_id = c.batch_id;

CREATE STREAMING VIEW customer_versions AS
SELECT
  *,
  CAST(changed_at AS DATE) AS effective_date,
  lead(CAST(changed_at AS DATE), 1, DATE '9999-12-31')
    OVER (PARTITION BY customer_id ORDER BY changed_at) AS end_date
FROM (
  SELECT
    customer_id, changed_at, batch_id, status,
    last_value(tax_id IGNORE NULLS) OVER known AS tax_id,
    last_value(last_name IGNORE NULLS) OVER known AS last_name,
    last_value(first_name IGNORE NULLS) OVER known AS first_name,
    last_value(middle_initial IGNORE NULLS) OVER known AS middle_initial,
    last_value(gender IGNORE NULLS) OVER known AS gender,
    last_value(tier IGNORE NULLS) OVER known AS tier,
    last_value(dob IGNORE NULLS) OVER known AS dob,
    last_value(address_line1 IGNORE NULLS) OVER known AS address_line1,
    last_value(address_line2 IGNORE NULLS) OVER known AS address_line2,
    last_value(postal_code IGNORE NULLS) OVER known AS postal_code,
    last_value(city IGNORE NULLS) OVER known AS city,
    last_value(state_prov IGNORE NULLS) OVER known AS state_prov,
    last_value(country IGNORE NULLS) OVER known AS country,
    last_value(phone1 IGNORE NULLS) OVER known AS phone1,
    last_value(phone2 IGNORE NULLS) OVER known AS phone2,
    last_value(phone3 IGNORE NULLS) OVER known AS phone3,
    last_value(email1 IGNORE NULLS) OVER known AS email1,
    last_value(email2 IGNORE NULLS) OVER known AS email2,
    last_value(lcl_tx_id IGNORE NULLS) OVER known AS lcl_tx_id,
    last_value(nat_tx_id IGNORE NULLS) OVER known AS nat_tx_id
  FROM customer_changes
  WINDOW known AS (
    PARTITION BY customer_id ORDER BY changed_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
  QUALIFY row_number() OVER (
    PARTITION BY customer_id, CAST(changed_at AS DATE) ORDER BY changed_at DESC
  ) = 1
) AS filled;

CREATE STREAMING VIEW account_changes AS
SELECT
  ca_id AS account_id, action_ts AS changed_at, 1 AS batch_id,
  CASE action_type WHEN 'CLOSEACCT' THEN 'INAC' ELSE 'ACTV' END AS status,
  c_id AS customer_id, ca_b_id AS broker_id, ca_name AS account_desc, ca_tax_st AS tax_status
FROM customer_mgmt
WHERE action_type IN ('NEW', 'ADDACCT', 'UPDACCT', 'CLOSEACCT')
UNION ALL
SELECT
  a.ca_id, CAST(b.batch_date AS TIMESTAMP), a.batch_id, a.ca_st_id, a.ca_c_id, a.ca_b_id,
  a.ca_name, a.ca_tax_st
FROM account_cdc AS a
JOIN batch_date AS b ON b.batch_id = a.batch_id;

CREATE STREAMING VIEW account_versions AS
SELECT
  *,
  CAST(changed_at AS DATE) AS effective_date,
  lead(CAST(changed_at AS DATE), 1, DATE '9999-12-31')
    OVER (PARTITION BY account_id ORDER BY changed_at) AS end_date
FROM (
  SELECT
    account_id, changed_at, batch_id, status, customer_id,
    last_value(broker_id IGNORE NULLS) OVER known AS broker_id,
    last_value(account_desc IGNORE NULLS) OVER known AS account_desc,
    last_value(tax_status IGNORE NULLS) OVER known AS tax_status
  FROM account_changes
  WINDOW known AS (
    PARTITION BY account_id ORDER BY changed_at ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
  )
  QUALIFY row_number() OVER (
    PARTITION BY account_id, CAST(changed_at AS DATE) ORDER BY changed_at DESC
  ) = 1
) AS filled;

-- Prospects: the newest row of each, the last batch that had it, and the last that changed it.

CREATE STREAMING VIEW prospect_rows AS
SELECT
  agency_id, batch_id, last_name, first_name, middle_initial, gender, address_line1,
  address_line2, postal_code, city, state, country, phone, income, number_cars, number_children,
  marital_status, age, credit_rating, own_or_rent_flag, employer, number_credit_cards, net_worth,
  nameplate(net_worth, income, number_children, number_credit_cards, number_cars, age,
    credit_rating) AS marketing_nameplate,
  person_key(last_name, first_name, address_line1, address_line2, postal_code) AS person,
  concat_ws('|', last_name, first_name, coalesce(middle_initial, ''), coalesce(gender, ''),
    address_line1, coalesce(address_line2, ''), postal_code, city, state, coalesce(country, ''),
    coalesce(phone, ''), CAST(income AS VARCHAR), CAST(number_cars AS VARCHAR),
    CAST(number_children AS VARCHAR), coalesce(marital_status, ''), CAST(age AS VARCHAR),
    CAST(credit_rating AS VARCHAR), coalesce(own_or_rent_flag, ''), coalesce(employer, ''),
    CAST(number_credit_cards AS VARCHAR), CAST(net_worth AS VARCHAR)) AS content
FROM prospect_file;

CREATE STREAMING VIEW prospect_updates AS
SELECT
  agency_id, max(batch_id) AS record_batch_id,
  max(CASE WHEN content = earlier THEN NULL ELSE batch_id END) AS update_batch_id
FROM (
  SELECT
    agency_id, batch_id, content,
    lag(content) OVER (PARTITION BY agency_id ORDER BY batch_id) AS earlier
  FROM prospect_rows
) AS compared
GROUP BY agency_id;

-- Trades, prices and the others: the newest change of a row, unless it is a deletion.

CREATE STREAMING VIEW trade_changes AS
SELECT
  'I' AS cdc_flag, 0 AS cdc_dsn, 1 AS batch_id, t_id AS trade_id, t_dts AS dts, t_st_id AS st_id,
  t_tt_id AS tt_id, t_is_cash AS is_cash, t_s_symb AS symbol, t_qty AS quantity,
  t_bid_price AS bid_price, t_ca_id AS account_id, t_exec_name AS executed_by,
  t_trade_price AS trade_price, t_chrg AS fee, t_comm AS commission, t_tax AS tax
FROM trade_file
UNION ALL
SELECT
  cdc_flag, cdc_dsn, batch_id, t_id, t_dts, t_st_id, t_tt_id, t_is_cash, t_s_symb, t_qty,
  t_bid_price, t_ca_id, t_exec_name, t_trade_price, t_chrg, t_comm, t_tax
FROM trade_cdc;

CREATE STREAMING VIEW trades AS
SELECT * EXCLUDE (cdc_flag, cdc_dsn)
FROM trade_changes
QUALIFY row_number() OVER (PARTITION BY trade_id ORDER BY batch_id DESC, cdc_dsn DESC) = 1
  AND cdc_flag <> 'D';

CREATE STREAMING VIEW trade_times AS
SELECT
  trade_id,
  coalesce(min(CASE st_id WHEN 'PNDG' THEN dts END), min(CASE st_id WHEN 'SBMT' THEN dts END))
    AS created_at,
  max(CASE WHEN st_id IN ('CMPT', 'CNCL') THEN dts END) AS closed_at
FROM (
  SELECT th_t_id AS trade_id, th_dts AS dts, th_st_id AS st_id FROM trade_history_file
  UNION ALL
  SELECT t_id, t_dts, t_st_id FROM trade_cdc WHERE cdc_flag <> 'D'
) AS events
GROUP BY trade_id;

CREATE STREAMING VIEW daily_market_changes AS
SELECT
  'I' AS cdc_flag, 0 AS cdc_dsn, 1 AS batch_id, dm_date, dm_s_symb AS symbol, dm_close, dm_high,
  dm_low, dm_vol
FROM daily_market_file
UNION ALL
SELECT cdc_flag, cdc_dsn, batch_id, dm_date, dm_s_symb, dm_close, dm_high, dm_low, dm_vol
FROM daily_market_cdc;

CREATE STREAMING VIEW daily_market AS
SELECT * EXCLUDE (cdc_flag, cdc_dsn)
FROM daily_market_changes
QUALIFY row_number() OVER (PARTITION BY symbol, dm_date ORDER BY batch_id DESC, cdc_dsn DESC) = 1
  AND cdc_flag <> 'D';

CREATE STREAMING VIEW cash_by_day AS
SELECT account_id, day, sum(amount) AS amount, max(batch_id) AS batch_id
FROM (
  SELECT
    ct_ca_id AS account_id, CAST(ct_dts AS DATE) AS day, ct_amt AS amount, 1 AS batch_id
  FROM cash_transaction_file
  UNION ALL
  SELECT
    ct_ca_id, CAST(ct_dts AS DATE), CASE cdc_flag WHEN 'D' THEN -ct_amt ELSE ct_amt END, batch_id
  FROM cash_transaction_cdc
) AS transactions
GROUP BY account_id, day;

CREATE STREAMING VIEW watches AS
SELECT
  customer_id, symbol, min(CASE action WHEN 'ACTV' THEN dts END) AS placed_at,
  max(CASE action WHEN 'CNCL' THEN dts END) AS removed_at, max(batch_id) AS batch_id
FROM (
  SELECT w_c_id AS customer_id, w_s_symb AS symbol, w_dts AS dts, w_action AS action, 1 AS batch_id
  FROM watch_history_file
  UNION ALL
  SELECT w_c_id, w_s_symb, w_dts, w_action, batch_id FROM watch_history_cdc WHERE cdc_flag <> 'D'
) AS actions
GROUP BY customer_id, symbol;

CREATE STREAMING VIEW company_earnings AS
SELECT
  company_id, since, lead(since, 1, DATE '9999-12-31') OVER quarters AS until, earnings
FROM (
  SELECT
    company_id, CAST(fi_qtr_start_date + INTERVAL 3 MONTH AS DATE) AS since,
    sum(fi_basic_eps) OVER (
      PARTITION BY company_id ORDER BY fi_qtr_start_date
      ROWS BETWEEN 3 PRECEDING AND CURRENT ROW
    ) AS earnings
  FROM financial
) AS rolled
WINDOW quarters AS (PARTITION BY company_id ORDER BY since);

CREATE STREAMING VIEW prospects_now AS
SELECT p.* EXCLUDE (batch_id, content), u.record_batch_id, u.update_batch_id
FROM prospect_rows AS p
JOIN prospect_updates AS u ON u.agency_id = p.agency_id AND u.record_batch_id = p.batch_id;
