"""Delta tables: one transaction for each epoch, read from the log."""
