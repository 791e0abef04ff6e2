"""What each connector accepts: options, metadata columns, encodings; no JVM."""
