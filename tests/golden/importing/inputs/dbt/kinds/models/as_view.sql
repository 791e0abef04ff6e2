{{ config(materialized='view') }} select id, word from {{ ref('kinds') }}
