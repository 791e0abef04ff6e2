{{ config(unique_key='id', pre_hook='select 1', post_hook='select 1', on_schema_change='fail', incremental_strategy='merge', schema='s',
   alias='a', tags=['x'], enabled=true, cluster_by='id', partition_by='id', materialized='view') }}
select id, word, moment from {{ ref('pkg', 'kinds') }} where id < {{ var('limit') }}
