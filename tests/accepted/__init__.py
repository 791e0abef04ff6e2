"""What `check` accepts, every engine must be able to run: views of all kinds, and how they are asked."""
