-- dialect: duckdb
-- The tables of TPC-DI's warehouse, each as the specification describes its transformation.
-- The surrogate key of a version is its business key and the day of its first validity.

CREATE STREAMING VIEW dim_date AS
SELECT
  sk_date_id, date_value, date_desc, calendar_year_id, calendar_qtr_id, calendar_month_id,
  day_of_week_num, day_of_week_desc, fiscal_year_id, fiscal_qtr_id, holiday_flag
FROM date_file;

CREATE STREAMING VIEW dim_time AS
SELECT
  sk_time_id, time_value, hour_id, minute_id, second_id, market_hours_flag, office_hours_flag
FROM time_file;

CREATE STREAMING VIEW status_type AS SELECT st_id, st_name FROM status_type_file;

CREATE STREAMING VIEW tax_rate AS SELECT tx_id, tx_name, tx_rate FROM tax_rate_file;

CREATE STREAMING VIEW industry AS SELECT in_id, in_name, in_sc_id FROM industry_file;

CREATE STREAMING VIEW trade_type AS
SELECT tt_id, tt_name, tt_is_sell, tt_is_mrkt FROM trade_type_file;

-- A broker has no history: it is valid since the first day of the calendar.
CREATE STREAMING VIEW dim_broker AS
SELECT
  b.employee_id AS sk_broker_id, b.employee_id AS broker_id, b.manager_id, b.first_name,
  b.last_name, b.middle_initial, b.branch, b.office, b.phone, true AS is_current, 1 AS batch_id,
  d.first_day AS effective_date, DATE '9999-12-31' AS end_date
FROM hr AS b
CROSS JOIN (SELECT min(date_value) AS first_day FROM date_file) AS d
WHERE b.job_code = 314;

CREATE STREAMING VIEW dim_company AS
SELECT
  version_key(c.cik, c.posted_on) AS sk_company_id, c.cik AS company_id, s.st_name AS status,
  c.name, i.in_name AS industry,
  CASE WHEN c.is_rating THEN c.sp_rating END AS sp_rating,
  CASE WHEN c.is_rating THEN NOT (c.sp_rating LIKE 'A%' OR c.sp_rating LIKE 'BBB%') END
    AS is_low_grade,
  c.ceo, c.address_line1, c.address_line2, c.postal_code, c.city, c.state_prov, c.country,
  c.description, c.founding_date, c.end_date = DATE '9999-12-31' AS is_current, c.batch_id,
  c.posted_on AS effective_date, c.end_date
FROM (
  SELECT
    *,
    lead(posted_on, 1, DATE '9999-12-31') OVER (PARTITION BY cik ORDER BY posted_on) AS end_date,
    sp_rating IN (
      'AAA', 'AA+', 'AA', 'AA-', 'A+', 'A', 'A-', 'BBB+', 'BBB', 'BBB-', 'BB+', 'BB', 'BB-', 'B+',
      'B', 'B-', 'CCC+', 'CCC', 'CCC-', 'CC', 'C', 'D'
    ) AS is_rating
  FROM finwire_company
) AS c
JOIN status_type AS s ON s.st_id = c.status
JOIN industry AS i ON i.in_id = c.industry_id;

-- What FINWIRE calls a company, its number or its name, by the days on which it means that company.
CREATE STREAMING VIEW company_aliases AS
SELECT
  lpad(CAST(company_id AS VARCHAR), 10, '0') AS alias, company_id, sk_company_id, effective_date,
  end_date
FROM dim_company
UNION ALL
SELECT name, company_id, sk_company_id, effective_date, end_date FROM dim_company;

CREATE STREAMING VIEW dim_security AS
SELECT
  x.symbol || '@' || CAST(x.posted_on AS VARCHAR) AS sk_security_id, x.symbol, x.issue,
  s.st_name AS status, x.name, x.exchange_id, c.sk_company_id, c.company_id,
  x.shares_outstanding, x.first_trade, x.first_trade_on_exchange, x.dividend,
  x.end_date = DATE '9999-12-31' AS is_current, x.batch_id, x.posted_on AS effective_date,
  x.end_date
FROM (
  SELECT
    *, lead(posted_on, 1, DATE '9999-12-31') OVER (PARTITION BY symbol ORDER BY posted_on) AS end_date
  FROM finwire_security
) AS x
JOIN status_type AS s ON s.st_id = x.status
JOIN company_aliases AS c
  ON c.alias = x.company AND c.effective_date <= x.posted_on AND x.posted_on < c.end_date;

CREATE STREAMING VIEW financial AS
SELECT
  c.sk_company_id, c.company_id, f.fi_year, f.fi_qtr, f.fi_qtr_start_date, f.fi_revenue,
  f.fi_net_earn, f.fi_basic_eps, f.fi_dilut_eps, f.fi_margin, f.fi_inventory, f.fi_assets,
  f.fi_liability, f.fi_out_basic, f.fi_out_dilut
FROM finwire_financial AS f
JOIN company_aliases AS c
  ON c.alias = f.company AND c.effective_date <= f.posted_on AND f.posted_on < c.end_date;

-- A prospect is looked for by name and address: only the current version of a customer has it.
CREATE STREAMING VIEW dim_customer AS
SELECT
  version_key(c.customer_id, c.effective_date) AS sk_customer_id, c.customer_id, c.tax_id,
  s.st_name AS status, c.last_name, c.first_name, c.middle_initial,
  CASE WHEN upper(c.gender) IN ('M', 'F') THEN upper(c.gender) ELSE 'U' END AS gender, c.tier,
  c.dob, c.address_line1, c.address_line2, c.postal_code, c.city, c.state_prov, c.country,
  c.phone1, c.phone2, c.phone3, c.email1, c.email2, n.tx_name AS national_tax_rate_desc,
  n.tx_rate AS national_tax_rate, l.tx_name AS local_tax_rate_desc, l.tx_rate AS local_tax_rate,
  p.agency_id, p.credit_rating, p.net_worth, p.marketing_nameplate, c.is_current, c.batch_id,
  c.effective_date, c.end_date
FROM (
  SELECT
    *, end_date = DATE '9999-12-31' AS is_current,
    CASE WHEN end_date = DATE '9999-12-31' THEN
      person_key(last_name, first_name, address_line1, address_line2, postal_code)
    END AS person
  FROM customer_versions
) AS c
JOIN status_type AS s ON s.st_id = c.status
LEFT JOIN tax_rate AS n ON n.tx_id = c.nat_tx_id
LEFT JOIN tax_rate AS l ON l.tx_id = c.lcl_tx_id
LEFT JOIN prospects_now AS p ON p.person = c.person;

-- A version of an account ends with its own next change, or with the next one of its customer.
CREATE STREAMING VIEW dim_account AS
SELECT
  version_key(a.account_id, greatest(a.effective_date, c.effective_date)) AS sk_account_id,
  a.account_id, b.sk_broker_id, version_key(c.customer_id, c.effective_date) AS sk_customer_id,
  s.st_name AS status, a.account_desc, a.tax_status,
  least(a.end_date, c.end_date) = DATE '9999-12-31' AS is_current,
  CASE WHEN a.effective_date >= c.effective_date THEN a.batch_id ELSE c.batch_id END AS batch_id,
  greatest(a.effective_date, c.effective_date) AS effective_date,
  least(a.end_date, c.end_date) AS end_date
FROM account_versions AS a
JOIN customer_versions AS c
  ON c.customer_id = a.customer_id AND c.effective_date < a.end_date
  AND a.effective_date < c.end_date
JOIN status_type AS s ON s.st_id = CASE c.status WHEN 'INAC' THEN 'INAC' ELSE a.status END
JOIN dim_broker AS b ON b.broker_id = a.broker_id;

CREATE STREAMING VIEW dim_trade AS
SELECT
  t.trade_id, a.sk_broker_id, cd.sk_date_id AS sk_create_date_id,
  ct.sk_time_id AS sk_create_time_id, dd.sk_date_id AS sk_close_date_id,
  dt.sk_time_id AS sk_close_time_id, s.st_name AS status, y.tt_name AS type,
  t.is_cash = 1 AS cash_flag, x.sk_security_id, x.sk_company_id, t.quantity, t.bid_price,
  a.sk_customer_id, a.sk_account_id, t.executed_by, t.trade_price, t.fee, t.commission, t.tax,
  t.batch_id
FROM trades AS t
JOIN trade_times AS w ON w.trade_id = t.trade_id
JOIN status_type AS s ON s.st_id = t.st_id
JOIN trade_type AS y ON y.tt_id = t.tt_id
JOIN dim_security AS x
  ON x.symbol = t.symbol AND x.effective_date <= CAST(w.created_at AS DATE)
  AND CAST(w.created_at AS DATE) < x.end_date
JOIN dim_account AS a
  ON a.account_id = t.account_id AND a.effective_date <= CAST(w.created_at AS DATE)
  AND CAST(w.created_at AS DATE) < a.end_date
JOIN dim_date AS cd ON cd.date_value = CAST(w.created_at AS DATE)
JOIN dim_time AS ct ON ct.time_value = strftime(w.created_at, '%H:%M:%S')
LEFT JOIN dim_date AS dd ON dd.date_value = CAST(w.closed_at AS DATE)
LEFT JOIN dim_time AS dt ON dt.time_value = strftime(w.closed_at, '%H:%M:%S');

CREATE STREAMING VIEW fact_cash_balances AS
SELECT
  a.sk_customer_id, a.sk_account_id, date_key(b.day) AS sk_date_id, b.cash, b.batch_id
FROM (
  SELECT
    account_id, day, batch_id,
    sum(amount) OVER (PARTITION BY account_id ORDER BY day) AS cash
  FROM cash_by_day
) AS b
JOIN dim_account AS a
  ON a.account_id = b.account_id AND a.effective_date <= b.day AND b.day < a.end_date;

CREATE STREAMING VIEW fact_holdings AS
SELECT
  h.hh_h_t_id AS trade_id, h.hh_t_id AS current_trade_id, t.sk_customer_id, t.sk_account_id,
  t.sk_security_id, t.sk_company_id, t.sk_close_date_id AS sk_date_id,
  t.sk_close_time_id AS sk_time_id, t.trade_price AS current_price,
  h.hh_after_qty AS current_holding, h.batch_id
FROM (
  SELECT hh_h_t_id, hh_t_id, hh_after_qty, 1 AS batch_id FROM holding_history_file
  UNION ALL
  SELECT hh_h_t_id, hh_t_id, hh_after_qty, batch_id FROM holding_history_cdc WHERE cdc_flag <> 'D'
) AS h
JOIN dim_trade AS t ON t.trade_id = h.hh_t_id;

CREATE STREAMING VIEW fact_watches AS
SELECT
  c.sk_customer_id, x.sk_security_id, date_key(CAST(w.placed_at AS DATE)) AS sk_date_placed,
  date_key(CAST(w.removed_at AS DATE)) AS sk_date_removed, w.batch_id
FROM watches AS w
JOIN dim_customer AS c
  ON c.customer_id = w.customer_id AND c.effective_date <= CAST(w.placed_at AS DATE)
  AND CAST(w.placed_at AS DATE) < c.end_date
JOIN dim_security AS x
  ON x.symbol = w.symbol AND x.effective_date <= CAST(w.placed_at AS DATE)
  AND CAST(w.placed_at AS DATE) < x.end_date;

-- The highest and the lowest price of 52 weeks, each with its first day.
CREATE STREAMING VIEW fact_market_history AS
SELECT
  x.sk_security_id, x.sk_company_id, date_key(m.dm_date) AS sk_date_id,
  CAST(m.dm_close AS DOUBLE) / nullif(CAST(e.earnings AS DOUBLE), 0) AS pe_ratio,
  CAST(x.dividend AS DOUBLE) / nullif(CAST(m.dm_close AS DOUBLE), 0) * 100 AS yield,
  m.high AS fifty_two_week_high, date_key(m.high_day) AS sk_fifty_two_week_high_date,
  m.low AS fifty_two_week_low, date_key(m.low_day) AS sk_fifty_two_week_low_date,
  m.dm_close AS close_price, m.dm_high AS day_high, m.dm_low AS day_low, m.dm_vol AS volume,
  m.batch_id
FROM (
  SELECT
    *,
    max(dm_high) OVER year AS high, arg_min(dm_date, -dm_high) OVER year AS high_day,
    min(dm_low) OVER year AS low, arg_min(dm_date, dm_low) OVER year AS low_day
  FROM daily_market
  WINDOW year AS (
    PARTITION BY symbol ORDER BY dm_date
    RANGE BETWEEN INTERVAL 363 DAY PRECEDING AND CURRENT ROW
  )
) AS m
JOIN dim_security AS x
  ON x.symbol = m.symbol AND x.effective_date <= m.dm_date AND m.dm_date < x.end_date
LEFT JOIN company_earnings AS e
  ON e.company_id = x.company_id AND e.since <= m.dm_date AND m.dm_date < e.until;

CREATE STREAMING VIEW prospect AS
SELECT
  p.agency_id, date_key(r.batch_date) AS sk_record_date_id,
  date_key(u.batch_date) AS sk_update_date_id, p.update_batch_id AS batch_id,
  p.person IN (
    SELECT person_key(last_name, first_name, address_line1, address_line2, postal_code)
    FROM dim_customer
    WHERE is_current AND status = 'Active'
  ) AS is_customer,
  p.last_name, p.first_name, p.middle_initial, p.gender, p.address_line1, p.address_line2,
  p.postal_code, p.city, p.state, p.country, p.phone, p.income, p.number_cars,
  p.number_children, p.marital_status, p.age, p.credit_rating, p.own_or_rent_flag, p.employer,
  p.number_credit_cards, p.net_worth, p.marketing_nameplate
FROM prospects_now AS p
JOIN batch_date AS r ON r.batch_id = p.record_batch_id
JOIN batch_date AS u ON u.batch_id = p.update_batch_id;

CREATE STREAMING VIEW di_messages AS
SELECT
  b.batch_date AS message_date, m.batch_id, m.message_source, m.message_text,
  'Alert' AS message_type, m.message_data
FROM (
  SELECT
    batch_id, 'DimCompany' AS message_source, 'Invalid SPRating' AS message_text,
    'CO_ID = ' || CAST(cik AS VARCHAR) || ', CO_SP_RATE = ' || coalesce(sp_rating, '')
      AS message_data
  FROM finwire_company
  WHERE sp_rating IS NULL OR sp_rating NOT IN (
    'AAA', 'AA+', 'AA', 'AA-', 'A+', 'A', 'A-', 'BBB+', 'BBB', 'BBB-', 'BB+', 'BB', 'BB-', 'B+',
    'B', 'B-', 'CCC+', 'CCC', 'CCC-', 'CC', 'C', 'D'
  )
  UNION ALL
  SELECT
    batch_id, 'DimCustomer', 'Invalid customer tier',
    'C_ID = ' || CAST(customer_id AS VARCHAR) || ', C_TIER = '
      || coalesce(CAST(tier AS VARCHAR), '')
  FROM dim_customer
  WHERE tier IS NULL OR tier NOT IN (1, 2, 3)
  UNION ALL
  SELECT
    c.batch_id, 'DimCustomer', 'DOB out of range',
    'C_ID = ' || CAST(c.customer_id AS VARCHAR) || ', C_DOB = ' || CAST(c.dob AS VARCHAR)
  FROM dim_customer AS c
  JOIN batch_date AS d ON d.batch_id = c.batch_id
  WHERE c.dob > d.batch_date OR CAST(c.dob + INTERVAL 100 YEAR AS DATE) <= d.batch_date
  UNION ALL
  SELECT
    batch_id, 'DimTrade', 'Invalid trade commission',
    'T_ID = ' || CAST(trade_id AS VARCHAR) || ', T_COMM = ' || CAST(commission AS VARCHAR)
  FROM dim_trade
  WHERE commission > trade_price * quantity
  UNION ALL
  SELECT
    batch_id, 'DimTrade', 'Invalid trade fee',
    'T_ID = ' || CAST(trade_id AS VARCHAR) || ', T_CHRG = ' || CAST(fee AS VARCHAR)
  FROM dim_trade
  WHERE fee > trade_price * quantity
  UNION ALL
  SELECT
    f.batch_id, 'FactMarketHistory', 'No earnings for company',
    'DM_S_SYMB = ' || f.sk_security_id || ', DM_DATE = ' || CAST(f.sk_date_id AS VARCHAR)
  FROM fact_market_history AS f
  WHERE f.pe_ratio IS NULL
) AS m
JOIN batch_date AS b ON b.batch_id = m.batch_id;

-- What the validation of a batch counts: rows, current versions, and versions that end too early.
CREATE STREAMING VIEW audit AS
SELECT
  table_name, batch_id, count(*) AS all_rows, count_if(is_current) AS current_rows,
  count_if(NOT effective_date < end_date) AS wrong_rows
FROM (
  SELECT 'DimAccount' AS table_name, batch_id, is_current, effective_date, end_date
  FROM dim_account
  UNION ALL
  SELECT 'DimBroker', batch_id, is_current, effective_date, end_date FROM dim_broker
  UNION ALL
  SELECT 'DimCompany', batch_id, is_current, effective_date, end_date FROM dim_company
  UNION ALL
  SELECT 'DimCustomer', batch_id, is_current, effective_date, end_date FROM dim_customer
  UNION ALL
  SELECT 'DimSecurity', batch_id, is_current, effective_date, end_date FROM dim_security
) AS versions
GROUP BY table_name, batch_id;
