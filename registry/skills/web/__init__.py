"""Fetch pages and turn HTML into readable text."""
