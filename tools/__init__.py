"""Programs that stand alone: they import the standard library and nothing of the server."""
