{{
    config(
        materialized='incremental',
        unique_key=['day', 'shop'],
        tags=['daily']
    )
}}
select date_trunc('day', s.sold_at) as day, s.shop, p.family, count(*) as sales, sum(s.amount) as amount
from {{ ref('stg_sales') }} as s
left join {{ ref('products') }} as p on p.product = s.product
{% if is_incremental() %}
where s.sold_at > (select max(day) from {{ this }})
{% endif %}
group by 1, 2, 3
order by 1
