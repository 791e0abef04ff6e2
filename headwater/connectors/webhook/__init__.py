"""Connector ``webhook``: rows as requests to a web server."""
