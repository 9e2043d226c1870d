"""Read tables of jobs, made from the log."""
