"""The ledger over HTTP: receiving receipts, and reading everything the ledger knows."""
