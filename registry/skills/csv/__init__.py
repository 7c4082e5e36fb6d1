"""Look at CSV files and compute with them, with the standard library only."""
