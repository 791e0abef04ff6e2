select id, {% for x in ['amount'] %}sum({{ x }}) as {{ x }}{% endfor %} from {{ source('raw', 'orders') }} group by id
