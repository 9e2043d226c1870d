"""The ledger's own projectors, in the order in which they run."""
