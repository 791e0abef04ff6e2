select {{ dbt.current_timestamp() }} as now
