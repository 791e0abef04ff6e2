{% snapshot shops_snapshot %}
select * from {{ source('till', 'shops') }}
{% endsnapshot %}
