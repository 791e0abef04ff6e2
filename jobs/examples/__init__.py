"""The worked examples below ``sql/``: events of realistic shape, and a run that checks them all."""
