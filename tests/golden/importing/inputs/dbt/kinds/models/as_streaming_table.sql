{{ config(materialized='streaming_table') }} select id, word from {{ ref('kinds') }}
