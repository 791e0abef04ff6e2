"""Files in folders and object stores."""
