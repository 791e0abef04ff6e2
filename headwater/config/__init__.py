"""Settings of a project: files, environment, command line, secrets."""
