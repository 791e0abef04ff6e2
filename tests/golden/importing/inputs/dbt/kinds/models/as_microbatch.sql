{{ config(materialized='microbatch') }} select id, word from {{ ref('kinds') }}
