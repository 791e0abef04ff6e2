select id from {{ ref('kinds') }} where day = '{{ var('nothing') }}'
