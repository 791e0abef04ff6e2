select id from {{ ref(model) }}
