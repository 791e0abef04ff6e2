"""Running a project: the Spark session, the lease of a process, and the supervisor of its views."""
