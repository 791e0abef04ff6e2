"""The servers around a lake: for containers (``compose.yaml``) and as processes (``local``)."""
