{% set families = ['bread', 'cake'] %}
select shop
{% for family in families %}, sum(case when family = '{{ family }}' then amount end) as {{ family }}{% endfor %}
from {{ ref('sales_per_day') }} group by shop
