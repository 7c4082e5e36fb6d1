"""The asynchronous client. `atoll._sync` is made from this package by `tools/make_sync.py`."""
