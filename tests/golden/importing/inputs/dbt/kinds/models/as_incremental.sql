{{ config(materialized='incremental') }} select id, word from {{ ref('kinds') }}
