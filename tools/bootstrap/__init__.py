"""What `bootstrap.py` does, with the standard library alone."""
