"""The rules of the incremental engine: each turns a bound view into its program."""
