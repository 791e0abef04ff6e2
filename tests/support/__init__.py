"""What tests of several lanes share."""
