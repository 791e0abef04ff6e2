select return_id, sale_id as sale, upper(reason) as reason from {{ source('legacy', 'returns') }} where reason is not null
