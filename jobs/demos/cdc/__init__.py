"""The demo of `make demo-cdc`: a shop in PostgreSQL under load, its views in the lake, live.

In: the command line. Out: PostgreSQL → Debezium → Kafka → Headwater on this machine, watched while
servers may be killed; in the end the tables of both sides compared, row by row.
"""
