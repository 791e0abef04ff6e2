select sh.city, sum(s.amount)::numeric(12, 2) as amount
from {{ ref('stg_sales') }} s join {{ source("till", "shops") }} sh on sh.shop = s.shop
group by sh.city
