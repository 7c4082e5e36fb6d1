# Made by tools/make_sync.py from _async/__init__.py; change that one.
"""The blocking client."""
