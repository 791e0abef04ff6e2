"""What `check` accepts, engines must be able to run: views of all kinds, and how they are asked."""
