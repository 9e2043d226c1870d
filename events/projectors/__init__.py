"""Make the read tables of buses from the log."""
