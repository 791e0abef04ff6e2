{{ config(materialized='materialized_view') }} select id, word from {{ ref('kinds') }}
