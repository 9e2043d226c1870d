"""The pure part of the ledger: values in, values out."""
