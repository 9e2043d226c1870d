"""What receipts tell of buses, read from their stubs: values in, values out, and never an error."""
