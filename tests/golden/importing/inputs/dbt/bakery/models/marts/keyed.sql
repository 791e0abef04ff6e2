select {{ dbt_utils.generate_surrogate_key(['shop', 'day']) }} as id from {{ ref('sales_per_day') }}
