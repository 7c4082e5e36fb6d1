"""Find and change text in files."""
