{{ config(materialized='view') }}
{# one line per sale #}
with source as (
    select * from {{ source('till', 'sales') }}
)
select sale_id, shop, product, cents / 100.0 as amount, sold_at,
    '{{ var("currency") }}' as currency
from source
