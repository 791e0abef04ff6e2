select id from {{ ref('kinds') }} {% if not is_incremental() %} where id > 1 {% else %} where id > 2 {% endif %}
