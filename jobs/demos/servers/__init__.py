"""The servers of ``compose.yaml`` as plain processes, with the same configuration files.

In: a folder for data, logs and records. Out: servers that answer, and none left in the end.
For people ``python -m jobs.demos.servers up``; for programs ``with Kafka(folder) as broker``.
"""
