{{ config(materialized='ephemeral') }} select id, word from {{ ref('kinds') }}
