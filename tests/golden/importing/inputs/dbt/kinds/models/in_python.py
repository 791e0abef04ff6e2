def model(dbt, session): return dbt.ref('kinds')
