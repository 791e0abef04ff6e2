"""Some queries of NEXMark as an expert writes them in Flink SQL, from Parquet files to Iceberg."""
