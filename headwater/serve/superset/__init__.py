"""Dashboards as code: a project's views become datasets, charts and dashboards of Superset."""
