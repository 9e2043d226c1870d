"""The tests, and the servers and browsers that they start for themselves."""
