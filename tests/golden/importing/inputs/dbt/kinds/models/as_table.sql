{{ config(materialized='table') }} select id, word from {{ ref('kinds') }}
