{{ config(materialized='dynamic_table') }} select id, word from {{ ref('kinds') }}
