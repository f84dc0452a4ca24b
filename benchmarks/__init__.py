"""Measurements of the project, one module a subject; each prints tables and has its record beside it."""
