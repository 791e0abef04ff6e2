"""The console: a page that shows how a project is doing, served on loopback."""
