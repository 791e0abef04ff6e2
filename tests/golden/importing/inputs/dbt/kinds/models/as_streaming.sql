{{ config(materialized='streaming') }} select id, word from {{ ref('kinds') }}
