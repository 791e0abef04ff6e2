"""The engines whose dialects are read, asked what their own words mean."""
